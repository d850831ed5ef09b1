package firing

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dueset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// scanPage is the number of keys read at once.
const scanPage = 2000

// Scan looks at every job due between the far past and the horizon (engine
// rule 12), in the order of their due times, and reads into the due set those that
// it does not hold yet. While the due set is full it stops early, after a look at
// what is on time, so that a long backlog does not hold up today's fires; the
// next scan begins in the far past again. A job that a group holds does not come
// into the due set, and takes no room in it. It returns how many jobs it read.
func (m *JobManager) Scan(ctx context.Context) (found int, err error) {
	groups, err := m.pausedGroups(ctx)
	if err != nil {
		return 0, err
	}
	now := m.StoreClock.Now()
	until := now.Add(m.cfg.Horizon)
	found, complete, err := m.scanFrom(ctx, groups, time.Time{}, until, m.dueSet.Free())
	if err != nil || complete {
		return found, err
	}
	// A quarter of the due set more is lent to what is on time.
	more, _, err := m.scanFrom(ctx, groups, now.Add(-dueset.LateAfter), until, m.cfg.MaxHeld/4+m.dueSet.Free())
	return found + more, err
}

// scanFrom reads at most room jobs; complete says that it reached the horizon.
func (m *JobManager) scanFrom(ctx context.Context, groups map[string]entity.Group, after, until time.Time,
	free int,
) (found int, complete bool, err error) {
	q := repository.DueQuery{
		Until: until, AfterDue: after, Partitions: m.Owner.Partitions(),
		Without: excludedGroups(groups), Limit: scanPage,
	}
	for found < free {
		keys, err := m.Plans.DueKeys(ctx, q)
		if err != nil {
			return found, false, fmt.Errorf("scan due jobs: %w", err)
		}
		ids := m.dueSet.Unknown(keys)
		full := len(ids) > free-found
		if full {
			ids = ids[:free-found]
		}
		jobs, err := m.Plans.ForPlanning(ctx, ids)
		if err != nil {
			return found, false, fmt.Errorf("read due jobs: %w", err)
		}
		for _, job := range jobs {
			if !pausedByGroup(job, groups) {
				m.consider(ctx, job)
			}
		}
		found += len(jobs)
		if full {
			return found, false, nil
		}
		if len(keys) < scanPage {
			return found, true, nil
		}
		last := keys[len(keys)-1]
		q.AfterDue, q.AfterID = last.DueTime, last.ID
	}
	return found, false, nil
}

func (m *JobManager) consider(ctx context.Context, job *entity.Job) {
	sched, err := m.compile(job)
	if why := job.Unreadable(); why != "" {
		err = fmt.Errorf("what the store holds of it cannot be read: %s", why)
	}
	if err != nil {
		m.recordBroken(ctx, job, err)
		return
	}
	m.Definitions.Keep(job)
	m.dueSet.Upsert(job, sched)
}

func (m *JobManager) compile(job *entity.Job) (sched *schedule.Schedule, err error) {
	err = batch.Guard(func() (err error) {
		sched, err = m.Schedules.Compile(job.Schedule)
		return err
	})
	return sched, err
}
