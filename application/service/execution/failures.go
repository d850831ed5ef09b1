package execution

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// maxFailures bounds the failures that one answer counts.
	maxFailures = 20_000
	// failureSpan is what is looked at where nobody says from when.
	failureSpan = 24 * time.Hour
	// jobsOfCause is how many jobs a cause names.
	jobsOfCause = 5
)

// FailureJob is a job that failed for a cause, so many times.
type FailureJob struct {
	ID    string
	Count int
}

// FailureCause is failures that share a reason.
type FailureCause struct {
	Reason entity.Reason
	Count  int
	// JobCount is how many jobs failed so; Jobs are those with the most failures.
	JobCount int
	Jobs     []FailureJob
	// Last is the newest of them by its id, as an example.
	Last *entity.Execution
}

// Failures are what failed in a span of time, most first.
type Failures struct {
	From, To time.Time
	Causes   []FailureCause
	// Complete is false where older failures were not looked at.
	Complete bool
}

// Failures counts the newest failures by their reason. Zero moments are a day ago and now.
func (s *ExecutionService) Failures(ctx context.Context, f repository.FailureFilter) (out Failures, err error) {
	if at, known := identity.TimeOf(f.RunID); known && f.From.IsZero() {
		f.From = at // the ids of steps begin with the moment of their run
	}
	f.From, f.To = spanOr(f.From, f.To, s.Clock.Now())
	if !f.From.Before(f.To) {
		return out, apperror.InvalidField("from", "out_of_order", "must be before to")
	}
	out.From, out.To = f.From, f.To
	found, complete, err := s.FailureRows.Failures(ctx, f, maxFailures)
	if err != nil {
		return out, err
	}
	out.Complete = complete
	out.Causes = causesOf(found)
	ids := convert.All(out.Causes, func(c FailureCause) string { return c.Last.ID })
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return out, err
	}
	for _, row := range rows {
		out.Causes[slices.Index(ids, row.ID)].Last = row
	}
	return out, nil
}

// spanOr is a span of time; zero moments are a day ago and now.
func spanOr(from, to, now time.Time) (begin, end time.Time) {
	if to.IsZero() {
		to = now.Add(time.Millisecond) // a run that was due just now counts, too
	}
	if from.IsZero() {
		from = to.Add(-failureSpan)
	}
	return from, to
}

// causesOf groups failures, which come newest first.
func causesOf(found []repository.Failure) []FailureCause {
	causes := []FailureCause{}
	place, jobs := map[entity.Reason]int{}, map[entity.Reason]map[string]int{}
	for _, f := range found {
		at, known := place[f.Reason]
		if !known {
			at = len(causes)
			place[f.Reason], jobs[f.Reason] = at, map[string]int{}
			causes = append(causes, FailureCause{Reason: f.Reason, Last: &entity.Execution{
				ID: f.ExecutionID, JobID: f.JobID, EndTime: f.EndTime,
			}})
		}
		causes[at].Count++
		jobs[f.Reason][f.JobID]++
	}
	for i := range causes {
		c := &causes[i]
		c.Jobs = mostFirst(jobs[c.Reason])
		c.JobCount = len(c.Jobs)
		c.Jobs = c.Jobs[:min(len(c.Jobs), jobsOfCause)]
	}
	slices.SortStableFunc(causes, func(a, b FailureCause) int { return b.Count - a.Count })
	return causes
}
