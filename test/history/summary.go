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
	// Forgiven counts calls beside others that only a lapse of their node excused.
	Forgiven int
}

// Summarize counts the history and checks it.
func Summarize(h History) Summary {
	s := Summary{
		Jobs: len(h.Jobs), Rows: len(h.Rows), Calls: len(h.Calls), Triggers: len(h.Triggers),
		ByStatus: map[string]int{},
	}
	c := check(h)
	s.Violations, s.Forgiven = c.found, c.forgiven
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
	return fmt.Sprintf("%d jobs, %d rows (%d ranges, %d with more than one attempt), %d calls seen by the targets, %d triggers\noutcomes: %v\nviolations: %d",
		s.Jobs, s.Rows, s.Ranges, s.Retried, s.Calls, s.Triggers, s.ByStatus, len(s.Violations))
}
