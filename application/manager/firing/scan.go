package firing

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// scanPage is the number of jobs read at once.
const scanPage = 1000

// Scan reads every job due between the far past and the horizon into the book
// (engine rule 12). While the book is full it stops early, after a look at
// what is on time, so that a long backlog does not hold up today's fires; the
// next scan goes on from the far past again.
func (m *JobManager) Scan(ctx context.Context) (found int, err error) {
	now := m.StoreClock.Now()
	until := now.Add(m.cfg.Horizon)
	found, complete, err := m.scanFrom(ctx, time.Time{}, until, m.book.room())
	if err != nil || complete {
		return found, err
	}
	// A quarter of the book more is lent to what is on time.
	more, _, err := m.scanFrom(ctx, now.Add(-lateLaneAfter), until, m.cfg.MaxHeld/4+m.book.room())
	return found + more, err
}

func (m *JobManager) scanFrom(ctx context.Context, after, until time.Time, room int) (found int, complete bool, err error) {
	q := repository.DueQuery{Until: until, AfterDue: after, Partitions: m.Owner.Partitions(), Limit: scanPage}
	for found < room {
		jobs, err := m.Plans.Due(ctx, q)
		if err != nil {
			return found, false, fmt.Errorf("scan due jobs: %w", err)
		}
		for _, job := range jobs {
			m.consider(ctx, job)
		}
		found += len(jobs)
		if len(jobs) < scanPage {
			return found, true, nil
		}
		last := jobs[len(jobs)-1]
		q.AfterDue, q.AfterID = last.DueTime, last.ID
	}
	return found, false, nil
}

func (m *JobManager) consider(ctx context.Context, job *entity.Job) {
	if m.book.knows(job) {
		return
	}
	sched, err := m.Schedules.Compile(job.Schedule)
	if err != nil {
		m.recordBroken(ctx, job, err)
		return
	}
	m.book.offer(job, sched)
}
