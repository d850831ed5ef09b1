package alerting_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Thousands of failures are some alerts, and each of the failures counts.
func TestAFloodOfFailuresIsGrouped(t *testing.T) {
	const jobs, failures = 60, 100
	d := newDesk(t)
	require.NoError(t, d.Leader(d.Faults).EnsureDefaults(t.Context()))
	now := d.Clock.Now()
	for i := range jobs {
		job := d.Add(t, enginetest.Job(fmt.Sprint("job ", i), nil))
		var ended []*entity.Execution
		for range failures {
			ended = append(ended, &entity.Execution{
				ID: identity.RandomID(now), JobID: job.ID, FireKey: identity.RandomID(now), ScheduledTime: now, DueTime: now,
				Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusFailed,
				Attempt: 1, StartTime: now, EndTime: now, ErrorMessage: "boom", CreateTime: now, UpdateTime: now,
			})
		}
		d.Write(t, func(ctx context.Context, tx repository.Tx) error {
			for _, e := range ended {
				if err := alertingtest.AddEvent(ctx, tx, e); err != nil {
					return err
				}
			}
			return tx.Executions.Insert(ctx, ended)
		})
	}
	taken, more := 0, true
	for more {
		var some int
		var err error
		some, more, err = d.Leader(d.Faults).RunOnce(t.Context())
		require.NoError(t, err)
		require.Less(t, some, jobs*failures, "alerts are planned in between")
		taken += some
	}
	require.Equal(t, jobs*failures, taken)
	counts := map[alert.RuleType]int{}
	all := d.Alerts()
	for _, a := range all {
		counts[a.Type] += a.Count
	}
	require.Equal(t, jobs*failures, counts[alert.JobFailed], "none is forgotten")
	require.Len(t, all, 2*jobs, "one alert of each rule and job")
}

// Where many rules see many jobs, a transaction writes a bounded number of alerts: else it
// would take longer than it may, again and again, and nobody would hear of anything.
func TestManyRulesThatSeeManyJobsAreManyTransactions(t *testing.T) {
	const rules, jobs, most = 60, 100, 2000
	d := newDesk(t)
	for i := range rules {
		d.Rule(alert.JobFailed, func(r *alert.Rule) { r.Head = alertingtest.Head(fmt.Sprint("rule ", i)) })
	}
	for i := range jobs {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job ", i), nil)), entity.StatusFailed)
	}
	before, transactions := 0, 0
	d.Faults.Before(func(name string) {
		if name != "alert-events" {
			return
		}
		transactions++
		held := d.held()
		require.LessOrEqual(t, held-before, most+rules, "one transaction")
		before = held
	})
	for more := true; more; {
		var err error
		_, more, err = d.Leader(d.Faults).RunOnce(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, rules*jobs, d.held(), "none is forgotten")
	require.GreaterOrEqual(t, transactions, 3)
}

// held is how many alerts hold their fingerprints.
func (d *desk) held() (n int) {
	d.T.Helper()
	for after := ""; ; {
		page, err := d.Store.HeldAlerts(d.T.Context(), after, 1000)
		require.NoError(d.T, err)
		if n += len(page); len(page) < 1000 {
			return n
		}
		after = page[len(page)-1].Fingerprint
	}
}

// storm is an evaluator with events without end.
type storm struct {
	planned chan struct{}
	turns   int
}

func (s *storm) EnsureDefaults(context.Context) error               { return nil }
func (s *storm) RecoverJobs(context.Context, []string) (int, error) { return 0, nil }
func (s *storm) RunOnce(context.Context) (taken int, more bool, err error) {
	s.turns++
	return 500, true, nil
}
func (s *storm) plan(context.Context) (int, error) { s.planned <- struct{}{}; return 0, nil }

// While more events wait, the loop goes on at once after it has planned.
func TestTheLoopPlansDuringAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &storm{planned: make(chan struct{})}
		l := manager.NewLoop(manager.LoopDeps{
			Turns: s, Plan: s.plan, Clock: clock.NewSystem(), Leads: func() bool { return true }, Note: func(error) {},
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		for range 12 {
			<-s.planned
		}
		require.Less(t, time.Since(began), 6*manager.LoopInterval, "it does not wait for the next look")
		cancel()
		select { // a plan may be under way
		case <-s.planned:
			<-done
		case <-done:
		}
		require.GreaterOrEqual(t, s.turns, 12)
	})
}
