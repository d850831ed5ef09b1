// Package fires reads what has become of the fires of jobs, around a moment: the rules that
// judge the present and the dry runs of the past read the same.
package fires

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// MaxRows is how many rows one turn reads for all rules.
	MaxRows = 200_000
	// pageRows is how many rows one statement reads at most.
	pageRows = 2000
	// firstSuccesses is how many rows the first statement that looks for successes reads.
	firstSuccesses = 100
	// nearby is the number of younger runs among which the reader looks for the run of an event.
	nearby = 64
	// Ahead is how far ahead of the store's time the date of a row may lie: nodes measure that
	// time. A row with a later date was written before the store's clock was set back.
	Ahead = 2 * time.Second
)

// ErrLater says that the rows of this turn are used up: the caller asks again in the next turn.
var ErrLater = errors.New("the rules have read as many rows as one turn may")

// Rows reads executions of jobs.
type Rows interface {
	// Outcomes: see repository.ExecutionReader.
	Outcomes(ctx context.Context, jobID, before string, limit int) ([]*entity.Execution, error)
}

// Budget is what one turn may still read. Not safe for concurrent use.
type Budget struct{ left int }

// NewBudget is the budget of a turn that has read nothing.
func NewBudget() *Budget { return &Budget{left: MaxRows} }

// Spent reports that the turn has read all it may.
func (b *Budget) Spent() bool { return b.left <= 0 }

// Reader reads the fires of each job once. Not safe for concurrent use.
type Reader struct {
	rows    Rows
	budget  *Budget
	horizon time.Time
	latest  map[string]time.Time
	jobs    map[string]*job
	// successes are the rows read for jobs with deadlines.
	successes map[string]*job
}

// job is what was read of one.
type job struct {
	fires *alerting.Fires
	// succeeded are executions, where a caller asks for them.
	succeeded []*entity.Execution
	// before is the id behind which the next page begins, and rows are those that were read.
	before string
	rows   int
	// whole: no older row is there.
	whole bool
}

// NewReader has read nothing. Now is the store's time.
func NewReader(rows Rows, budget *Budget, now time.Time) *Reader {
	return &Reader{
		rows: rows, budget: budget, horizon: now.Add(Ahead), latest: map[string]time.Time{}, jobs: map[string]*job{},
		successes: map[string]*job{},
	}
}

// Expect tells of an end that will be asked about: the fires of its job are read from the latest
// one on. An end may have an id that lies behind its own time, where the clock was set back.
func (r *Reader) Expect(jobID, executionID string, at time.Time) {
	if of, ok := identity.TimeOf(executionID); ok && of.After(at) {
		at = of
	}
	if at.After(r.latest[jobID]) {
		r.latest[jobID] = at
	}
}

// Question asks for the fires of a job that had ended at a moment.
type Question struct {
	JobID string
	// Moment is the end that is asked about, and ExecutionID its own run, whose row may be some
	// milliseconds younger than its event.
	Moment      time.Time
	ExecutionID string
	// Fires is how many are enough, in any case. First is how many rows the first statement reads
	// at least.
	Fires, First int
	// Enough reports whether fires, the newest first, answer what is asked.
	Enough func(runs []alerting.Run) bool
}

// Before returns the fires that had ended by a moment. Rows of runs that go on, and newer rows, do not hide them,
// however many there are. The error is ErrLater where the turn has no rows left. Where one job alone takes all rows of
// a turn, the past is cut.
func (r *Reader) Before(ctx context.Context, q Question) (p alerting.Past, err error) {
	j := r.jobs[q.JobID]
	if j == nil {
		r.Expect(q.JobID, q.ExecutionID, q.Moment)
		j = &job{fires: alerting.NewFires(r.horizon), before: upTo(r.latest[q.JobID])}
		r.jobs[q.JobID] = j
	}
	for {
		p.Runs, p.Cut = until(j.fires.Runs(), q), !j.whole
		if j.whole || j.rows >= MaxRows || len(p.Runs) >= q.Fires || len(p.Runs) > 0 && q.Enough(p.Runs) {
			return p, nil
		}
		page, err := r.page(ctx, q.JobID, j, max(2*q.Fires+2, q.First))
		if err != nil {
			return p, err
		}
		for _, e := range page {
			j.fires.Add(e)
		}
	}
}

// upTo is above the ids of all runs that began by a moment.
func upTo(at time.Time) string { return identity.FloorID(at.Add(time.Millisecond)) }

// until leaves out executions that ended after the moment of a question.
func until(runs []alerting.Run, q Question) []alerting.Run {
	at := sort.Search(len(runs), func(i int) bool { return !runs[i].At.After(q.Moment) })
	for i := max(at-nearby, 0); i < at && q.ExecutionID != ""; i++ {
		if runs[i].ExecutionID == q.ExecutionID {
			return runs[i:]
		}
	}
	return runs[at:]
}

// page reads older rows of a job: the first time some, then as many as one statement reads.
func (r *Reader) page(ctx context.Context, jobID string, j *job, first int) ([]*entity.Execution, error) {
	if r.budget.Spent() {
		return nil, ErrLater
	}
	limit := pageRows
	if j.rows == 0 {
		limit = min(first, pageRows)
	}
	limit = min(limit, r.budget.left)
	page, err := r.rows.Outcomes(ctx, jobID, j.before, limit)
	if err != nil {
		return nil, fmt.Errorf("read the runs of job %s: %w", jobID, err)
	}
	r.budget.left -= len(page)
	j.rows += len(page)
	j.whole = len(page) < limit
	if len(page) > 0 {
		j.before = page[len(page)-1].ID
	}
	return page, nil
}

// Succeeded shows the executions of a job that succeeded and whose ids lie in [from, to], the newest first. It stops
// when one is enough, and reports whether one was. It reads them once, from the latest expected moment on. The error is
// ErrLater as in Before.
func (r *Reader) Succeeded(ctx context.Context, jobID string, from, to time.Time, enough func(*entity.Execution) bool,
) (bool, error) {
	j := r.successes[jobID]
	if j == nil {
		r.Expect(jobID, "", to)
		j = &job{before: upTo(r.latest[jobID])}
		r.successes[jobID] = j
	}
	floor, seen := identity.FloorID(from), 0
	for {
		for ; seen < len(j.succeeded); seen++ {
			switch e := j.succeeded[seen]; {
			case e.ID < floor:
				return false, nil
			case enough(e):
				return true, nil
			}
		}
		if j.whole || j.before <= floor || j.rows >= MaxRows {
			return false, nil
		}
		page, err := r.page(ctx, jobID, j, firstSuccesses)
		if err != nil {
			return false, err
		}
		for _, e := range page {
			if e.Status == entity.StatusSuccess && e.Unreadable == "" && !e.UpdateTime.After(r.horizon) {
				j.succeeded = append(j.succeeded, e)
			}
		}
	}
}
