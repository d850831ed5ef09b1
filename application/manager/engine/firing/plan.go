package firing

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dueset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

// planBatch plans what is due of the jobs until the executions fill a batch,
// and gives the other due jobs back. While there is something on time, an eighth of
// the executions is for what is late. A job whose planning fails or panics is paused, and
// one that its group holds is left out.
func (m *JobManager) planBatch(ctx context.Context, dueJobs []*dueset.Due, groups map[string]entity.Group,
	now time.Time,
) []*item {
	var late, onTime int
	for _, h := range dueJobs {
		if h.Late {
			late++
		} else {
			onTime++
		}
	}
	free := m.cfg.ExecutionLimit
	if late > 0 && onTime > 0 {
		free -= free / dueset.LateShare
	}
	items := make([]*item, 0, len(dueJobs))
	var left []*dueset.Due
	for i, h := range dueJobs {
		if i == onTime && i > 0 { // the late ones stand behind those on time
			free += m.cfg.ExecutionLimit / dueset.LateShare
		}
		if pausedByGroup(h.Job, groups) {
			m.dueSet.FinishFiring(h, nil, now)
			continue
		}
		if free <= 0 {
			left = append(left, h)
			continue
		}
		it, err := m.planGuarded(h, now, free)
		switch {
		case err != nil:
			m.dueSet.FinishFiring(h, nil, now)
			m.recordBroken(ctx, h.Job, err)
		case it == nil: // not due after all: the clock went back
			m.dueSet.FinishFiring(h, h.Job, now)
		default:
			items = append(items, it)
			free -= it.size()
		}
	}
	m.dueSet.GiveBack(left)
	return items
}

func (m *JobManager) planGuarded(h *dueset.Due, now time.Time, free int) (it *item, err error) {
	err = batch.Guard(func() error {
		it, err = m.plan(h, now, free)
		return err
	})
	return it, err
}

// plan decides what is due of one job, about so many executions; nil when nothing is.
func (m *JobManager) plan(h *dueset.Due, now time.Time, free int) (*item, error) {
	limit := min(m.cfg.PlanLimit, max(free/h.Job.ExecutionsPerFire(), 1))
	plan := planning.Due(h.Job, h.Sched, now, limit)
	if plan.Skip == nil && len(plan.Fires) == 0 {
		return nil, nil
	}
	it := &item{due: h, job: *h.Job}
	if plan.Skip != nil {
		it.execs = append(it.execs, entity.NewRange(h.Job, *plan.Skip, now))
	}
	if h.Job.Coordinated() {
		it.fires = plan.Fires
	} else {
		for _, f := range plan.Fires {
			it.execs = append(it.execs, entity.NewExecutions(h.Job, f, now)...)
		}
	}
	it.job.DecidedUntil = time.Time{} // which planning does not know
	it.last = plan.Apply(&it.job, h.Sched)
	return it, nil
}

// size is how many executions the item adds.
func (it *item) size() int { return len(it.execs) + len(it.fires)*it.job.ExecutionsPerFire() }
