package firing

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// broadcastRows is how many rows a fire of a broadcast is taken for: the nodes
// are read inside the transaction.
const broadcastRows = 8

// rowsOfFire is how many rows one fire of a job adds.
func rowsOfFire(job *entity.Job) int {
	if job.Broadcast {
		return broadcastRows
	}
	return max(job.ShardCount, 1)
}

// planBatch plans what is due of the hinted jobs until the rows fill a batch,
// and gives the other hints back. While there is something on time, an eighth of
// the rows is for what is late. A job whose planning fails or panics is paused, and
// one that its group holds is left out.
func (m *JobManager) planBatch(ctx context.Context, hints []*hint, groups map[string]entity.Group, now time.Time) []*item {
	var late, fresh int
	for _, h := range hints {
		if h.late {
			late++
		} else {
			fresh++
		}
	}
	room := m.cfg.RowLimit
	if late > 0 && fresh > 0 {
		room -= room / lateShare
	}
	items := make([]*item, 0, len(hints))
	var left []*hint
	for i, h := range hints {
		if i == fresh && i > 0 { // the late ones stand behind those on time
			room += m.cfg.RowLimit / lateShare
		}
		if held(h.job, groups) {
			m.book.settle(h, nil, now)
			continue
		}
		if room <= 0 {
			left = append(left, h)
			continue
		}
		it, err := m.planGuarded(h, now, room)
		switch {
		case err != nil:
			m.book.settle(h, nil, now)
			m.recordBroken(ctx, h.job, err)
		case it == nil: // not due after all: the clock went back
			m.book.settle(h, h.job, now)
		default:
			items = append(items, it)
			room -= it.size()
		}
	}
	m.book.giveBack(left)
	return items
}

func (m *JobManager) planGuarded(h *hint, now time.Time, room int) (it *item, err error) {
	err = batch.Guard(func() error {
		it, err = m.plan(h, now, room)
		return err
	})
	return it, err
}

// plan decides what is due of one job, about so many rows; nil when nothing is.
func (m *JobManager) plan(h *hint, now time.Time, room int) (*item, error) {
	limit := min(m.cfg.PlanLimit, max(room/rowsOfFire(h.job), 1))
	plan := Decide(h.job, h.sched, now, limit)
	if plan.Skip == nil && len(plan.Fires) == 0 {
		return nil, nil
	}
	it := &item{hint: h, job: *h.job}
	if plan.Skip != nil {
		it.rows = append(it.rows, admission.Range(h.job, *plan.Skip, now))
	}
	for _, f := range plan.Fires {
		fire := admission.PlannedFire(f)
		if h.job.Coordinated() {
			it.fires = append(it.fires, fire)
			continue
		}
		rows, err := fire.Rows(h.job, now)
		if err != nil {
			return nil, fmt.Errorf("make the runs of fire %s: %w", fire.Key, err)
		}
		it.rows = append(it.rows, rows...)
	}
	it.last = Apply(&it.job, h.sched, plan)
	return it, nil
}

// size is how many rows the item adds.
func (it *item) size() int { return len(it.rows) + len(it.fires)*rowsOfFire(&it.job) }

// Decide plans what is due of a job at now, under its present definition. A
// FIXED_DELAY job has one nominal time and no next one until its run has ended.
func Decide(job *entity.Job, sched *schedule.Schedule, now time.Time, limit int) planning.Plan {
	in := planning.Input{
		Schedule: view(job, sched), Cursor: job.NextFireTime, Now: now, Jitter: sched.Jitter(job.ID),
		Misfire: job.Misfire, MaxFires: limit,
	}
	return planning.Decide(in)
}

// view is the schedule as planning sees it.
func view(job *entity.Job, sched *schedule.Schedule) planning.Cursorer {
	if job.Schedule.Kind == schedule.FixedDelay {
		return single(job.NextFireTime)
	}
	return sched
}

// single is a schedule of one moment.
type single time.Time

// Next implements planning's view of a schedule.
func (s single) Next(after time.Time) (time.Time, bool) {
	if !after.Before(time.Time(s)) {
		return time.Time{}, false
	}
	return time.Time(s), true
}

// LatestAtOrBefore implements planning's view of a schedule.
func (s single) LatestAtOrBefore(from, t time.Time) (time.Time, bool) {
	at := time.Time(s)
	return at, !at.Before(from) && !at.After(t)
}

// Count implements planning's view of a schedule.
func (s single) Count(first, end time.Time, _ int) (int, bool) {
	if _, ok := s.LatestAtOrBefore(first, end.Add(-time.Millisecond)); ok {
		return 1, false
	}
	return 0, false
}

// Apply moves the job's cursor to where the plan ends. It returns the latest
// nominal time that was decided to run, zero when none was.
func Apply(job *entity.Job, sched *schedule.Schedule, plan planning.Plan) (last time.Time) {
	if n := len(plan.Fires); n > 0 {
		last = plan.Fires[n-1].Nominal
		job.LastFireTime = last
	}
	if job.Schedule.Kind == schedule.FixedDelay && plan.Next.IsZero() {
		job.ClearCursor()
		return last
	}
	job.Advance(sched, plan.Next)
	return last
}
