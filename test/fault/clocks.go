package fault

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// stepClock steps a node's wall clock, and back.
func (s *Striker) stepClock(ctx context.Context, b Blow, m *rig.Member) error {
	s.countStep(ctx, ClockStep)
	if err := m.StepClock(b.Step); err != nil {
		return err
	}
	rig.Sleep(ctx, b.For)
	s.countStep(ctx, ClockStep)
	return m.StepClock(0)
}

// stepStore steps the store's clock, and back. After a step ahead the jobs are idle until the clock shows what they
// were planned for; the fault is over then.
func (s *Striker) stepStore(ctx context.Context, b Blow) error {
	step := history.Step{By: b.Step, From: time.Now()}
	s.countStep(ctx, StoreStep)
	if err := s.server.StepClock(ctx, b.Step); err != nil {
		return err
	}
	step.Seen = time.Now()
	rig.Sleep(ctx, b.For)
	s.countStep(ctx, StoreStep)
	step.Back = time.Now()
	if err := s.server.StepClock(context.WithoutCancel(ctx), 0); err != nil {
		return err
	}
	step.Until = time.Now()
	s.mu.Lock()
	s.steps = append(s.steps, step)
	s.mu.Unlock()
	rig.Sleep(ctx, b.Step)
	return nil
}

// countStep counts a step, and whether it meets an open alert of a job.
func (s *Striker) countStep(ctx context.Context, k Kind) {
	bounded, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	open := 0
	if db, err := sql.Open("mysql", s.rig.DSN); err == nil {
		_ = db.QueryRowContext(bounded, "SELECT COUNT(*) FROM scheduler_alert WHERE open_key IS NOT NULL AND "+
			"status <> 'RESOLVED' AND job_id IS NOT NULL").Scan(&open) // a store that is away shows none
		_ = db.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.clocks[k]
	n.all++
	if open > 0 {
		n.open++
	}
	s.clocks[k] = n
}

// clockSteps are steps of clocks of one kind, and those that met an open alert.
type clockSteps struct{ all, open int }
