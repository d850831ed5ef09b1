package history

import "fmt"

// Summary is what a history comes to.
type Summary struct {
	Jobs, Rows int
	Calls      int
	Ranges     int
	Retried    int
	Triggers   int
	ByStatus   map[string]int
	Violations []Violation
	// Frozen counts the uses of the one allowance: calls of a node that the test
	// had frozen, beside others that took over from it.
	Frozen int
}

// Summarize counts the history and checks it.
func Summarize(h History) Summary {
	s := Summary{
		Jobs: len(h.Jobs), Rows: len(h.Rows), Calls: len(h.Calls), Triggers: len(h.Triggers),
		ByStatus: map[string]int{},
	}
	c := check(h)
	s.Violations, s.Frozen = c.found, c.allowed
	for _, r := range h.Rows {
		if r.SkipCount > 0 {
			s.Ranges++
		}
		if r.Attempt > 1 {
			s.Retried++
		}
		outcome := r.Status
		if r.Reason != "" {
			outcome += "(" + r.Reason + ")"
		}
		s.ByStatus[outcome]++
	}
	return s
}

// String is the summary for people.
func (s Summary) String() string {
	return fmt.Sprintf("%d jobs, %d rows (%d ranges, %d with more than one attempt), %d calls seen by the targets, %d "+
		"triggers\noutcomes: %v\nviolations: %d",
		s.Jobs, s.Rows, s.Ranges, s.Retried, s.Calls, s.Triggers, s.ByStatus, len(s.Violations))
}
