package execution

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

const (
	// MaxRerun bounds the runs of one plan.
	MaxRerun = 5000
	// rerunPage is how many failed runs are read at once.
	rerunPage = 500
	// plansOfUser and plansOfNode bound the plans that are counted at once: each may read a million narrow rows.
	plansOfUser, plansOfNode = 1, 2
)

// RerunFilter chooses failed runs; empty fields do not filter.
type RerunFilter struct {
	JobIDs, Groups []string
	Statuses       []entity.Status
	Reason         entity.Reason
	// Cause is that of package cause, in hexadecimal letters.
	Cause   string
	NodeID  string
	Trigger entity.Trigger
	// From and To bound the moment in the id, as in a list of runs. Zero moments are a day ago and now.
	From, To time.Time
	// Succeeded takes in runs of jobs that have succeeded since, too.
	Succeeded bool
}

// keeps judges what the store was not asked for.
func (f *RerunFilter) keeps(row *entity.Execution, causeID string) bool {
	return (f.Reason == "" || row.Reason == f.Reason) && (f.Cause == "" || f.Cause == causeID) &&
		(f.NodeID == "" || row.NodeID == f.NodeID) && (f.Trigger == "" || row.Trigger == f.Trigger)
}

// RerunPlan is the failed runs that would run again, and counts of those that would not.
type RerunPlan struct {
	// IDs are the runs, the oldest first.
	IDs    []string
	Jobs   []FailureJob
	Causes []RerunCause
	// Repeated were run again before; Succeeded are of jobs that have succeeded since; Deleted are of deleted jobs.
	Repeated, Succeeded, Deleted int
	// More says that there are more than the limit; Complete is false where older failures were not looked at.
	More, Complete bool
	// Made is the store's time of the plan.
	Made time.Time
}

// RerunCause is a cause of runs that would start.
type RerunCause struct {
	Cause  string
	Reason entity.Reason
	Count  int
	// Last is the newest of them.
	Last *entity.Execution
}

// PlanRerun says which failed runs would run again: the newest, at most limit. visible are the groups in which the user
// may start runs; nil is all. It looks at the newest 20,000 failures. A user has one such call at a time.
func (s *ExecutionService) PlanRerun(ctx context.Context, user string, f RerunFilter, limit int,
	visible []string,
) (RerunPlan, error) {
	plan, causes := RerunPlan{Made: s.Clock.Now()}, causeCounts{}
	if f.To.After(plan.Made) {
		f.To = time.Time{}
	}
	f.From, f.To = spanOr(f.From, f.To, plan.Made)
	if !f.From.Before(f.To) {
		return plan, apperror.InvalidField("filter.from", "out_of_order", "must be before filter.to, and not in the future")
	}
	leave, err := s.planGate().Enter(user)
	if err != nil {
		return plan, err
	}
	defer leave()
	found, complete, err := s.FailureRows.Failures(ctx, repository.FailureFilter{
		From: f.From, To: f.To, Groups: common(f.Groups, visible), JobIDs: f.JobIDs, Statuses: f.Statuses, Patient: true,
	}, maxFailures)
	if err != nil {
		return plan, err
	}
	plan.Complete = complete
	jobs, counts := newSince(s), map[string]int{}
	for page := range slices.Chunk(found, rerunPage) {
		rows, repeated, err := s.repeatable(ctx, page)
		if err != nil {
			return plan, err
		}
		if err := jobs.know(ctx, rows, f.Succeeded); err != nil {
			return plan, err
		}
		for _, row := range rows {
			id := cause.Of(string(row.Reason), row.ErrorMessage).String()
			switch {
			case !f.keeps(row, id):
			case repeated[row.ID]:
				plan.Repeated++
			case jobs.deleted(row.JobID):
				plan.Deleted++
			case jobs.succeeded(row):
				plan.Succeeded++
			case len(plan.IDs) == limit:
				plan.More = true
			default:
				plan.IDs = append(plan.IDs, row.ID)
				counts[row.JobID]++
				causes.add(id, row)
			}
		}
	}
	slices.Sort(plan.IDs)
	plan.Jobs, plan.Causes = mostFirst(counts), causes.mostFirst()
	return plan, nil
}

func (s *ExecutionService) planGate() *admit.Gate {
	s.gated.Do(func() {
		s.gate = admit.New(admit.Bounds{
			What: "counts of failed runs", Code: "too_many_plans", User: plansOfUser, Node: plansOfNode,
		})
	})
	return s.gate
}

// RetryOnce is Retry of a run that was not run again: a repetition that counts is a conflict, and so is one
// that its job would skip. Nothing is left of either.
func (s *ExecutionService) RetryOnce(ctx context.Context, id string, by entity.Actor) (string, error) {
	row, err := s.Executions.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return s.repeat(ctx, row, nil, by, func(ctx context.Context, tx repository.Tx, made []*entity.Execution) error {
		return onlyOnce(ctx, tx, row, made[0])
	}, closesLetterOf(row))
}

// repeatable reads failed runs, newest first, and says which of them were run again. A repetition that was skipped or
// cancelled does not stand for its run.
func (s *ExecutionService) repeatable(ctx context.Context, page []repository.Failure) (rows []*entity.Execution,
	repeated map[string]bool, err error,
) {
	ids := convert.All(page, func(x repository.Failure) string { return x.ExecutionID })
	if rows, err = s.Executions.ByIDs(ctx, ids); err != nil {
		return nil, nil, err
	}
	roots := convert.All(rows, func(row *entity.Execution) string { return row.IdempotencyKey() })
	replays, err := s.Executions.Replays(ctx, slices.Compact(slices.Sorted(slices.Values(roots))))
	if err != nil {
		return nil, nil, err
	}
	var newer []string
	for _, row := range rows {
		newer = append(newer, after(replays[row.IdempotencyKey()], row.ID)...)
	}
	again, err := s.Executions.ByIDs(ctx, slices.Compact(slices.Sorted(slices.Values(newer))))
	if err != nil {
		return nil, nil, err
	}
	counts := map[string]bool{}
	for _, row := range again {
		counts[row.ID] = row.Status != entity.StatusSkipped && row.Status != entity.StatusCancelled
	}
	repeated = map[string]bool{}
	for _, row := range rows {
		repeated[row.ID] = slices.ContainsFunc(after(replays[row.IdempotencyKey()], row.ID),
			func(id string) bool { return counts[id] })
	}
	slices.SortFunc(rows, func(a, b *entity.Execution) int { return strings.Compare(b.ID, a.ID) })
	return rows, repeated, nil
}

// after are the ids that are greater than one.
func after(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other <= id })
}

// common are the groups of both lists; an empty wanted is all of them.
func common(wanted, visible []string) []string {
	switch {
	case len(wanted) == 0:
		return visible
	case visible == nil:
		return wanted
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(group string) bool { return !slices.Contains(visible, group) })
}
