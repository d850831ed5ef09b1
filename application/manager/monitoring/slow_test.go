package monitoring_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tasks "github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// attempts are those of a node.
type attempts []tasks.LongAttempt

// Long implements monitoring.Attempts.
func (a *attempts) Long(age time.Duration) (out []tasks.LongAttempt) {
	for _, l := range *a {
		if l.Age >= age {
			out = append(out, l)
		}
	}
	return out
}

// A run that takes longer than usual is told once, while it runs; short runs cost no read.
func TestASlowRunIsToldWhileItRuns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		leader := d.fold(d.store)
		for range 30 {
			d.clock.Advance(time.Minute)
			d.add(d.end(0, entity.StatusSuccess, func(e *entity.Execution) { e.Duration = 10 * time.Second }))
		}
		d.drain(leader)
		from := &reads{BaselineReader: d.store.Statistics}
		var run attempts
		told := 0
		slow := monitoring.NewSlow(monitoring.SlowDeps{
			Attempts: &run, Usual: d.usual(from), Store: d.faults, Clock: d.clock,
			Readers: entity.EventReaders{Rules: true}, EventsAdded: func() { told++ },
		})
		look := func(age time.Duration) []entity.Event {
			now := d.clock.Now()
			run = attempts{
				{JobID: d.jobs[0].ID, ExecutionID: "e1", Attempt: 2, Start: now.Add(-age), Age: age},
				{JobID: d.jobs[1].ID, ExecutionID: "e2", Attempt: 1, Start: now.Add(-age), Age: age},
			}
			require.NoError(t, slow.RunOnce(t.Context()))
			events, err := d.store.PendingEvents(t.Context(), entity.ReaderRules, 0, 100)
			require.NoError(t, err)
			return events
		}
		require.Empty(t, look(4*time.Second))
		require.Empty(t, from.jobs, "a short run costs nothing")
		require.Empty(t, look(12*time.Second))
		require.Equal(t, []int{2}, from.jobs, "one read for all")

		failed := false
		d.faults.Before(func(name string) {
			if name == "slow-runs" && !failed {
				failed = true
				panic(errors.New("the node dies"))
			}
		})
		require.Panics(t, func() { look(time.Minute) })
		events := look(time.Minute)
		require.Len(t, events, 1)
		require.Equal(t, []any{"slow:e1:2", monitoring.EventUnusual, d.jobs[0].ID},
			[]any{events[0].ID, events[0].Type, events[0].Key})
		var data monitoring.UnusualData
		require.NoError(t, json.Unmarshal([]byte(events[0].Payload), &data))
		require.Equal(t, []any{"e1", baseline.SlowRun, int64(60_000), true},
			[]any{data.ExecutionID, data.Code, data.Params.ValueMs, data.Params.Running})
		require.Len(t, look(2*time.Minute), 1, "it is told once")
		require.Equal(t, 1, told)
		run = nil
		require.NoError(t, slow.RunOnce(t.Context()))
	})
}
