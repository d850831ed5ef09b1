package alert

import "time"

// Suspension says that a rule does nothing for some time, although it is enabled.
type Suspension struct {
	RuleID string
	// Until is when it ends, by the store's clock.
	Until time.Time
	// Cost is what the rule took in the minute in which it was suspended, in steps; 0 where
	// its patterns are larger than any rule may have.
	Cost int64
	// Why is a sentence without its full stop.
	Why string
}
