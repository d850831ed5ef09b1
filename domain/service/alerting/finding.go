package alerting

import (
	"fmt"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// Unusual is a finding about a job: what was seen of a run, and when.
type Unusual struct {
	baseline.Finding
	// At is when it was found.
	At time.Time
	// Evidence tells one finding from another of the same moment.
	Evidence string
	// ExecutionID is empty where the finding does not know its run.
	ExecutionID string
}

// OnUnusual asks a rule about a finding.
func OnUnusual(r *alert.Rule, job Job, u Unusual) (s Signal, found bool) {
	if !r.Enabled || string(r.Type) != string(u.Code) || !job.SeenBy(r) {
		return s, false
	}
	return Signal{
		Rule: r, Subject: job.RunsAs(), Evidence: u.Evidence, At: u.At, JobID: job.ID, Group: job.Group,
		ExecutionID: u.ExecutionID, Labels: jobLabels(job), Details: numbersOf(job, u.Finding),
		Content: fmt.Sprintf("%s of the %s. %s", title(u.Code), job.title(), u.Sentence()),
	}, true
}

// title begins the sentence of a finding.
func title(c baseline.Code) string {
	switch c {
	case baseline.SlowRun:
		return "A slow run"
	case baseline.FasterThanUsual:
		return "A run that was faster than usual"
	case baseline.FailingMore:
		return "More failures than usual"
	}
	return "A deadline at risk"
}

// numbersOf are the numbers of a finding that say something of it.
func numbersOf(job Job, f baseline.Finding) map[string]string {
	out := job.details(map[string]string{})
	whole := func(name string, n int64) {
		if n != 0 {
			out[name] = strconv.FormatInt(n, 10)
		}
	}
	p := &f.Params
	whole("valueMs", p.ValueMs)
	whole("usualMs", p.UsualMs)
	whole("lowMs", p.LowMs)
	whole("highMs", p.HighMs)
	whole("limitMs", p.LimitMs)
	whole("runs", int64(p.Runs))
	whole("failed", int64(p.Failed))
	whole("window", int64(p.Window))
	if p.Cell != "" {
		out["cell"] = p.Cell
	}
	if p.Running {
		out["running"] = "true"
	}
	if f.Code == baseline.FailingMore {
		out["usualRate"] = strconv.FormatFloat(p.UsualRate, 'g', 3, 64)
	}
	if f.Code == baseline.DeadlineAtRisk {
		out["deadline"], out["expectedEnd"] = p.Deadline.UTC().Format(time.RFC3339), p.ExpectedEnd.UTC().Format(time.RFC3339)
		out["chance"] = strconv.FormatFloat(p.Chance, 'g', 3, 64)
	}
	return out
}
