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

// Run is one fire of a job that has ended: all its shards are one run.
type Run struct {
	ExecutionID string
	Status      entity.Status
	// At is when the end of the last shard was stored.
	At time.Time
}

// RunsOf folds executions of a job into runs, the one that ended last first. Fires that go
// on are left out, and so is the oldest fire if it has fewer shards here than it should:
// the page that was read ends inside of it. What was skipped or cancelled is no run.
func RunsOf(execs []*entity.Execution) []Run {
	type fire struct {
		run    Run
		states []entity.Status
		total  int
	}
	fires := map[string]*fire{}
	var order []*fire
	for _, e := range execs {
		if e.IsRange() {
			continue
		}
		key := e.FireKey
		if e.RetryOf != "" {
			key = e.ID // a repetition by hand stands for itself
		}
		f := fires[key]
		if f == nil {
			f = &fire{total: max(e.ShardTotal, 1)}
			if e.RetryOf != "" {
				f.total = 1
			}
			fires[key] = f
			order = append(order, f)
		}
		f.states = append(f.states, e.Status)
		// Evidence has the time of its transaction: so a success right after a failure is
		// later than the failure, however long the ends waited for others.
		at := e.UpdateTime
		if at.IsZero() {
			at = e.EndTime
		}
		if f.run.ExecutionID == "" || at.After(f.run.At) {
			f.run.ExecutionID, f.run.At = e.ID, at
		}
	}
	var out []Run
	for _, f := range order {
		f.run.Status = entity.Fold(f.states)
		complete := len(f.states) >= f.total || f.run.Status == entity.StatusSkipped
		if complete && (f.run.Status == entity.StatusSuccess || Failure(f.run.Status)) {
			out = append(out, f.run)
		}
	}
	slices.SortStableFunc(out, func(a, b Run) int { return b.At.Compare(a.At) })
	return out
}

// failedInARow reports whether the newest n runs failed.
func failedInARow(runs []Run, n int) bool {
	if n < 1 || len(runs) < n {
		return false
	}
	return !slices.ContainsFunc(runs[:n], func(r Run) bool { return !Failure(r.Status) })
}

// rate is how many runs there were, and how many failed.
type rate struct{ runs, failed int }

func rateOf(runs []Run, since time.Time) (r rate) {
	for _, run := range runs {
		if run.At.Before(since) {
			continue
		}
		r.runs++
		if Failure(run.Status) {
			r.failed++
		}
	}
	return r
}

func (r rate) above(threshold float64) bool {
	return r.runs >= minWindowRuns && float64(r.failed) >= threshold*float64(r.runs)
}

// RecoveredBy is the run that ends an episode about failures: the newest run succeeded, and
// it ended after all evidence of the episode.
func RecoveredBy(runs []Run, evidenceUntil time.Time) (Run, bool) {
	if len(runs) == 0 || runs[0].Status != entity.StatusSuccess || !runs[0].At.After(evidenceUntil) {
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
