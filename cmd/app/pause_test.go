package app_test

import (
	"cmp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Pauses of a job and of its group end by themselves at their moment, also when
// that came while no node ran, and the ledger has each planned time once.
func TestPausesEndByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const step = 200 * time.Millisecond
		cfg := newConfig(t)
		n := startNode(t, cfg, &script{})
		j := n.create(newJob("paused", every(step)))
		enabled := func() bool {
			job, err := n.Jobs.Get(t.Context(), j.ID)
			require.NoError(t, err)
			return job.Status == entity.JobEnabled
		}
		pause := func(of string, lasts time.Duration) (until time.Time) {
			var err error
			until = n.Clock.Now().Add(lasts).Truncate(time.Millisecond)
			if of == "job" {
				_, err = n.Jobs.Pause(t.Context(), j.ID, entity.Pause{Until: until})
			} else {
				_, err = n.Groups.Pause(t.Context(), j.Group, entity.Pause{Until: until})
			}
			require.NoError(t, err)
			require.False(t, enabled())
			return until
		}
		var ends []time.Time
		for _, of := range []string{"job", "group"} {
			n.await("a run", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") > 0 })
			ends = append(ends, pause(of, time.Second))
			n.await("the end of the pause of the "+of, enabled)
			n.await("runs after it", func() bool { return firedSince(n.rows(j.ID), ends[len(ends)-1]) > 1 })

			ends = append(ends, pause(of, 300*time.Millisecond))
			n.stop()
			for !n.Clock.Now().After(ends[len(ends)-1].Add(5 * step)) {
				time.Sleep(step)
			}
			n = startNode(t, cfg, &script{})
			n.await("the end of the pause of the "+of+" after the start", enabled)
			n.await("runs after the start", func() bool { return firedSince(n.rows(j.ID), ends[len(ends)-1]) > 6 })
		}
		rows := slices.DeleteFunc(n.rows(j.ID), func(e *entity.Execution) bool { return e.Trigger == entity.TriggerManual })
		n.stop()
		slices.SortFunc(rows, func(a, b *entity.Execution) int {
			return cmp.Compare(a.ScheduledTime.UnixMilli(), b.ScheduledTime.UnixMilli())
		})
		var ranges []*entity.Execution
		// A range ends behind its last time.
		goesOn := func(row *entity.Execution) time.Time { return row.SkipTo.Add(step - time.Millisecond) }
		for i, row := range rows {
			next := row.ScheduledTime.Add(step)
			if row.IsRange() {
				next, ranges = goesOn(row), append(ranges, row)
				require.Equal(t, entity.ReasonPaused, row.Reason)
			}
			if i+1 < len(rows) {
				require.Equal(t, next, rows[i+1].ScheduledTime, "each planned time has one outcome")
			}
		}
		require.Len(t, ranges, len(ends))
		for i, end := range ends {
			require.WithinRange(t, goesOn(ranges[i]), end, end.Add(step), "planned again from the end of the pause on")
		}
	})
}

// firedSince counts the fires that were planned after a moment.
func firedSince(rows []*entity.Execution, at time.Time) (n int) {
	for _, row := range rows {
		if !row.IsRange() && row.ScheduledTime.After(at) {
			n++
		}
	}
	return n
}
