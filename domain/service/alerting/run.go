package alerting

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

const (
	// maxWindowRuns is how many runs FAILURE_RATE looks at.
	maxWindowRuns = 1000
	// minWindowRuns is how many runs a rate needs: one failure of one run is no rate.
	minWindowRuns = 5
)

// Run is one fire of a job that has succeeded or failed: all its shards are one run.
type Run struct {
	ExecutionID string
	Status      entity.Status
	// At is when the end of its last shard was stored, or of the first one that failed. Ends have
	// the time of their transaction, as evidence has.
	At time.Time
}

// failedInARow reports whether the newest n runs failed.
func failedInARow(runs []Run, n int) bool {
	if n < 1 || len(runs) < n {
		return false
	}
	return !slices.ContainsFunc(runs[:n], func(r Run) bool { return !r.Status.Failed() })
}

// rate is how many runs there were, and how many failed.
type rate struct{ runs, failed int }

func rateOf(runs []Run, since time.Time) (r rate) {
	for _, run := range runs {
		if run.At.Before(since) {
			continue
		}
		r.runs++
		if run.Status.Failed() {
			r.failed++
		}
	}
	return r
}

func (r rate) above(threshold float64) bool {
	return r.runs >= minWindowRuns && float64(r.failed) >= threshold*float64(r.runs)
}

// RecoveredBy is the run that ends an episode about failures: the newest run succeeded, and
// it did not end before any evidence of the episode. Ends of one transaction have one time:
// among them the fire that was planned last is the newest run.
func RecoveredBy(runs []Run, evidenceUntil time.Time) (Run, bool) {
	if len(runs) == 0 || runs[0].Status != entity.StatusSuccess || runs[0].At.Before(evidenceUntil) {
		return Run{}, false
	}
	return runs[0], true
}

// EndedBy is the run that ends an episode of a rule: the newest run succeeded, and ended
// after all evidence. A rate must have fallen below its line as well. More failures than
// usual are not over with one success: that episode ends by silence.
func EndedBy(a *alert.Alert, r *alert.Rule, runs []Run) (Run, bool) {
	run, yes := RecoveredBy(runs, a.EvidenceUntil)
	switch {
	case !yes || a.Type == alert.FailingMore:
		return Run{}, false
	case a.Type == alert.FailureRate && r != nil && r.Type == a.Type &&
		rateOf(runs, run.At.Add(-time.Duration(r.WindowSec)*time.Second)).above(r.Threshold):
		return Run{}, false
	}
	return run, true
}

// RunsToEnd is how many of the newest fires decide whether an episode of a rule is over.
func RunsToEnd(a *alert.Alert, r *alert.Rule) int {
	if a.Type == alert.FailureRate && r != nil && r.Type == a.Type {
		return maxWindowRuns
	}
	return 1
}

// EnoughToEnd reports whether these runs, the newest first, decide whether an episode of a rule
// is over, whatever older ones did.
func EnoughToEnd(a *alert.Alert, r *alert.Rule, runs []Run) bool {
	switch {
	case len(runs) == 0:
		return false
	case RunsToEnd(a, r) == 1 || runs[0].Status != entity.StatusSuccess:
		return true
	}
	return runs[len(runs)-1].At.Before(runs[0].At.Add(-time.Duration(r.WindowSec) * time.Second))
}
