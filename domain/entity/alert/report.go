package alert

import "time"

// WeeklyReport is what a week has come to, beside the week before.
type WeeklyReport struct {
	// From and To bound the week; their location is the zone of the report.
	From, To      time.Time
	Total, Before ReportSums
	// Groups are those with the most runs, Failing the jobs with the most failures, Slow those
	// whose runs took longest against what is usual for them.
	Groups  []ReportGroup
	Failing []ReportJob
	Slow    []ReportSlow
	Alerts  []AlertCount
	// DeadLetters wait for a person now; with MoreDeadLetters there are more.
	DeadLetters     int
	MoreDeadLetters bool
	// URL leads to the console; empty where the server does not know its own address.
	URL string
}

// ReportSums are figures of a week.
type ReportSums struct {
	// Runs are those that ended; Failures of them FAILED, timed out or are DEAD. Skipped are
	// fires that did not run.
	Runs, Success, Failures, Cancelled, Skipped int64
}

// Rate is the share of successes in the runs that were not cancelled; false: there were none.
func (s ReportSums) Rate() (float64, bool) {
	n := s.Runs - s.Cancelled
	if n <= 0 {
		return 0, false
	}
	return float64(s.Success) / float64(n), true
}

// ReportGroup are the figures of a group of jobs.
type ReportGroup struct {
	Name          string
	Total, Before ReportSums
}

// ReportJob are the figures of a job that fails.
type ReportJob struct {
	Name, Group    string
	Runs, Failures int64
}

// ReportSlow is a job that takes longer than usual.
type ReportSlow struct {
	Name, Group string
	Runs        int64
	// Mean is that of the week.
	Mean, Usual time.Duration
}

// AlertCount is how many alerts of a type and level there were.
type AlertCount struct {
	Type  RuleType
	Level Level
	Count int
}
