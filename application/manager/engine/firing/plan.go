package firing

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

// broadcastSize is how many executions a fire of a broadcast is taken for: the nodes
// are read inside the transaction.
const broadcastSize = 8

// executionsOfFire is how many executions one fire of a job adds.
func executionsOfFire(job *entity.Job) int {
	if job.Broadcast {
		return broadcastSize
	}
	return max(job.ShardCount, 1)
}

// planBatch plans what is due of the hinted jobs until the executions fill a batch,
// and gives the other due jobs back. While there is something on time, an eighth of
// the executions is for what is late. A job whose planning fails or panics is paused, and
// one that its group holds is left out.
func (m *JobManager) planBatch(ctx context.Context, dueJobs []*dueJob, groups map[string]entity.Group, now time.Time) []*item {
	var late, onTime int
	for _, h := range dueJobs {
		if h.late {
			late++
		} else {
			onTime++
		}
	}
	free := m.cfg.ExecutionLimit
	if late > 0 && onTime > 0 {
		free -= free / lateShare
	}
	items := make([]*item, 0, len(dueJobs))
	var left []*dueJob
	for i, h := range dueJobs {
		if i == onTime && i > 0 { // the late ones stand behind those on time
			free += m.cfg.ExecutionLimit / lateShare
		}
		if pausedByGroup(h.job, groups) {
			m.dueSet.finishFiring(h, nil, now)
			continue
		}
		if free <= 0 {
			left = append(left, h)
			continue
		}
		it, err := m.planGuarded(h, now, free)
		switch {
		case err != nil:
			m.dueSet.finishFiring(h, nil, now)
			m.recordBroken(ctx, h.job, err)
		case it == nil: // not due after all: the clock went back
			m.dueSet.finishFiring(h, h.job, now)
		default:
			items = append(items, it)
			free -= it.size()
		}
	}
	m.dueSet.giveBack(left)
	return items
}

func (m *JobManager) planGuarded(h *dueJob, now time.Time, free int) (it *item, err error) {
	err = batch.Guard(func() error {
		it, err = m.plan(h, now, free)
		return err
	})
	return it, err
}

// plan decides what is due of one job, about so many executions; nil when nothing is.
func (m *JobManager) plan(h *dueJob, now time.Time, free int) (*item, error) {
	limit := min(m.cfg.PlanLimit, max(free/executionsOfFire(h.job), 1))
	plan := planning.Due(h.job, h.sched, now, limit)
	if plan.Skip == nil && len(plan.Fires) == 0 {
		return nil, nil
	}
	it := &item{due: h, job: *h.job}
	if plan.Skip != nil {
		it.execs = append(it.execs, entity.NewRange(h.job, *plan.Skip, now))
	}
	if h.job.Coordinated() {
		it.fires = plan.Fires
	} else {
		for _, f := range plan.Fires {
			it.execs = append(it.execs, entity.NewExecutions(h.job, f, now)...)
		}
	}
	it.last = plan.Apply(&it.job, h.sched)
	return it, nil
}

// size is how many executions the item adds.
func (it *item) size() int { return len(it.execs) + len(it.fires)*executionsOfFire(&it.job) }
