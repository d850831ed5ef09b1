package execution_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// told is what the ledger says of one fire, in seconds after the beginning.
type told struct {
	at      int
	outcome string
}

func ledger(t *testing.T, d *desk, q entity.LedgerQuery) ([]entity.LedgerEntry, string) {
	t.Helper()
	entries, next, err := d.Executions.Fires(t.Context(), q)
	require.NoError(t, err)
	return entries, next
}

func tell(entries []entity.LedgerEntry) []told {
	out := make([]told, len(entries))
	for i, e := range entries {
		out[i] = told{int(e.ScheduledTime.Sub(enginetest.Noon) / time.Second), e.Outcome}
	}
	return out
}

func TestTheLedgerTellsThePastAndWhatIsToCome(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.After(10 * time.Second)
	d.After(10 * time.Second)
	d.Finish(d.Rows(job.ID)[0].ID, entity.StatusSuccess, entity.ReasonNone)
	d.Trigger(job.ID)
	entries, next := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(45 * time.Second)})
	require.Equal(t, []told{{40, "PLANNED"}, {30, "PLANNED"}, {20, "WAITING"}, {10, "SUCCESS"}}, tell(entries),
		"runs by hand are no planned fires")
	require.Empty(t, next)
	require.Empty(t, entries[0].ExecutionIDs)
	require.Equal(t, []string{d.Rows(job.ID)[0].ID}, entries[3].ExecutionIDs)
	entries, _ = ledger(t, d, entity.LedgerQuery{
		JobID: job.ID, From: noon(11 * time.Second),
		To: noon(21 * time.Second),
	})
	require.Equal(t, []told{{20, "WAITING"}}, tell(entries))
	_, _, err := d.Executions.Fires(t.Context(), entity.LedgerQuery{JobID: job.ID, From: noon(1), To: noon(1)})
	requireCode(t, err, apperror.KindInvalid, "invalid")
	_, _, err = d.Executions.Fires(t.Context(), entity.LedgerQuery{JobID: job.ID, Cursor: "soon"})
	requireCode(t, err, apperror.KindInvalid, "invalid")
	_, _, err = d.Executions.Fires(t.Context(), entity.LedgerQuery{JobID: "nobody"})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

// Rule 6: the ledger reads rows. A new schedule changes what is to come and
// nothing of what was.
func TestTheLedgerNeverRecomputesThePast(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	for range 3 {
		d.After(10 * time.Second)
	}
	before, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(31 * time.Second)})
	d.Replace(job.ID, func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 0 1 1 ?", TimeZone: "UTC"}
	})
	after, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(31 * time.Second)})
	require.Equal(t, before, after)
	require.Equal(t, []told{{30, "WAITING"}, {20, "WAITING"}, {10, "WAITING"}}, tell(after))
}

// Rule 6: the outcome of a sharded fire folds its shards.
func TestAShardedFireIsOneEntry(t *testing.T) {
	for name, c := range map[string]struct {
		ends   []entity.Status
		want   string
		reason entity.Reason
	}{
		"one waits": {[]entity.Status{entity.StatusSuccess, entity.StatusFailed}, "WAITING", ""},
		"all good":  {[]entity.Status{entity.StatusSuccess, entity.StatusSuccess, entity.StatusSuccess}, "SUCCESS", ""},
		"one failed": {
			[]entity.Status{entity.StatusSuccess, entity.StatusFailed, entity.StatusSuccess},
			"FAILED",
			entity.ReasonError,
		},
		"one is dead": {
			[]entity.Status{entity.StatusDead, entity.StatusFailed, entity.StatusSuccess},
			"DEAD",
			entity.ReasonError,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(everyTenSeconds(func(j *entity.Job) { j.ShardCount = 3 }))
			d.After(10 * time.Second)
			rows := d.Rows(job.ID)
			require.Len(t, rows, 3)
			for i, status := range c.ends {
				reason := entity.ReasonNone
				if status != entity.StatusSuccess {
					reason = entity.ReasonError
				}
				d.Finish(rows[i].ID, status, reason)
			}
			entries, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(11 * time.Second)})
			require.Len(t, entries, 1)
			require.Equal(t, c.want, entries[0].Outcome)
			if c.want != "RUNNING" {
				require.Equal(t, c.reason, entries[0].Reason)
			}
			require.Len(t, entries[0].ExecutionIDs, 3)
		})
	}
}

func TestARangeIsOneEntryWithItsCount(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(55 * time.Second)
	_, err = d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	entries, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(56 * time.Second)})
	require.Equal(t, []told{{10, "SKIPPED"}}, tell(entries))
	require.Equal(t, entity.ReasonPaused, entries[0].Reason)
	require.Equal(t, 5, entries[0].Count)
	require.False(t, entries[0].CountAtLeast)
	require.True(t, entries[0].RangeEnd.After(noon(50*time.Second)))
}

// Rule 19: the ledger shows the fire and what repeated it by hand.
func TestRepetitionsStandWithTheirFire(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.After(10 * time.Second)
	row := d.Rows(job.ID)[0]
	d.Finish(row.ID, entity.StatusFailed, entity.ReasonError)
	first, err := d.Executions.Retry(t.Context(), row.ID, entity.Actor{})
	require.NoError(t, err)
	d.Finish(first, entity.StatusFailed, entity.ReasonError)
	d.Clock.Advance(time.Millisecond)
	second, err := d.Executions.Retry(t.Context(), first, entity.Actor{})
	require.NoError(t, err)
	entries, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(11 * time.Second)})
	require.Equal(t, []told{{10, "FAILED"}}, tell(entries), "the original stays what it was")
	require.Equal(t, []string{first, second}, entries[0].Replays)
}

// Pages follow one another without a gap or a repetition, and never split a
// sharded fire.
func TestTheLedgerIsPagedByFires(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(func(j *entity.Job) { j.ShardCount = 4 }))
	var want []told
	for s := 1; s <= 7; s++ {
		d.After(10 * time.Second)
		want = append([]told{{10 * s, "WAITING"}}, want...)
	}
	for _, limit := range []int{1, 2, 3, 7, 50} {
		var got []told
		q := entity.LedgerQuery{JobID: job.ID, From: noon(0), To: noon(75 * time.Second), Limit: limit}
		for pages := 0; ; pages++ {
			require.Less(t, pages, 20)
			entries, next := ledger(t, d, q)
			require.LessOrEqual(t, len(entries), limit)
			for _, e := range entries {
				require.Len(t, e.ExecutionIDs, 4)
			}
			got = append(got, tell(entries)...)
			if q.Cursor = next; next == "" {
				break
			}
		}
		require.Equal(t, want, got, "limit %d", limit)
	}
}

// A page of fires to come is bounded, so that the past is seen beside it.
func TestFewFiresToComeAreShown(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.After(10 * time.Second)
	entries, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, Limit: 4})
	require.Equal(t, []told{{30, "PLANNED"}, {20, "PLANNED"}, {10, "WAITING"}}, tell(entries))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	entries, _ = ledger(t, d, entity.LedgerQuery{JobID: job.ID, Limit: 4})
	require.Equal(t, []told{{10, "WAITING"}}, tell(entries), "a paused job plans nothing")
}

// A range that began before the span that is asked for is part of the answer,
// however long ago, and whatever ran by hand since; it is told once.
func TestTheLedgerTellsOfARangeThatBeganBefore(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.Create(enginetest.Job("hourly", waiting(func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.CronExpression, j.Schedule.Dialect = schedule.Cron, "0 0 * * * ?", "QUARTZ"
		})))
		d.After(time.Hour)
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
		require.NoError(t, err)
		d.Clock.Advance(72 * time.Hour)
		_, err = d.Jobs.Resume(t.Context(), job.ID)
		require.NoError(t, err)
		d.Trigger(job.ID)
		now := d.Time.Now()
		day := entity.LedgerQuery{JobID: job.ID, From: now.Add(-24 * time.Hour), To: now}
		entries, next := ledger(t, d, day)
		require.Len(t, entries, 1)
		require.Equal(t, []any{"SKIPPED", 72, noon(2 * time.Hour), noon(73*time.Hour + time.Millisecond)},
			[]any{entries[0].Outcome, entries[0].Count, entries[0].ScheduledTime, entries[0].RangeEnd})
		require.Equal(t, "paused", entries[0].Message)
		require.Empty(t, next)
		d.After(time.Hour)
		day.To, day.Limit = now.Add(3*time.Hour), 2
		entries, next = ledger(t, d, day)
		require.Equal(t, []string{"PLANNED", "WAITING"}, []string{entries[0].Outcome, entries[1].Outcome})
		require.NotEmpty(t, next, "the range is on the next page")
		day.Cursor = next
		entries, next = ledger(t, d, day)
		require.Len(t, entries, 1)
		require.Equal(t, 72, entries[0].Count)
		require.Empty(t, next)
		for name, from := range map[string]time.Time{
			"it had ended":     noon(74 * time.Hour),
			"it has not begun": noon(30 * time.Minute),
		} {
			entries, _ = ledger(t, d, entity.LedgerQuery{JobID: job.ID, From: from, To: from.Add(time.Hour)})
			for _, e := range entries {
				require.Zero(t, e.Count, name)
			}
		}
	})
}

// Rule 6: a fire of which nothing runs is WAITING, and says for what; what no node
// can take is told before what only waits its turn.
func TestTheLedgerSaysWhatAFireWaitsFor(t *testing.T) {
	d := newDesk(t)
	nobody := d.Create(enginetest.Job("nobody", waiting(func(j *entity.Job) {
		enginetest.Every(time.Minute)(j)
		j.ShardCount = 3
	})))
	serial := d.Create(enginetest.Job("serial", func(j *entity.Job) {
		enginetest.Every(time.Minute)(j)
		j.Overlap = entity.OverlapSerial
	}))
	d.After(time.Minute)
	d.After(time.Minute)
	first := d.Fires(nobody.ID)[0]
	require.Equal(t, []any{"WAITING", entity.WaitNode}, []any{first.Outcome, first.WaitsFor})
	d.Finish(first.ExecutionIDs[0], entity.StatusSuccess, entity.ReasonNone)
	first = d.Fires(nobody.ID)[0]
	require.Equal(t, []any{"WAITING", entity.WaitNode}, []any{first.Outcome, first.WaitsFor})
	for _, id := range first.ExecutionIDs[1:] {
		d.Finish(id, entity.StatusSuccess, entity.ReasonNone)
	}
	first = d.Fires(nobody.ID)[0]
	require.Equal(t, []any{"SUCCESS", entity.WaitNone}, []any{first.Outcome, first.WaitsFor})
	both := d.Fires(serial.ID)
	require.Equal(t, []any{"WAITING", entity.WaitJob, "WAITING", entity.WaitSlot},
		[]any{both[0].Outcome, both[0].WaitsFor, both[1].Outcome, both[1].WaitsFor})
}
