package execution_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// fill asks for the range of seconds [from, to) after noon.
func (d *desk) fill(id string, from, to, parallel int) entity.Backfill {
	d.T.Helper()
	b, err := d.Backfills.Start(d.T.Context(), id, d.span(from, to, parallel))
	require.NoError(d.T, err)
	return b
}

func (d *desk) span(from, to, parallel int) execution.Backfill {
	return execution.Backfill{
		From: noon(time.Duration(from) * time.Second), To: noon(time.Duration(to) * time.Second),
		MaxParallel: parallel, User: "ann",
	}
}

// look is one turn of the task.
func (d *desk) look() { d.T.Helper(); require.NoError(d.T, d.Filler.RunOnce(d.T.Context())) }

func (d *desk) backfill(id string) entity.Backfill {
	d.T.Helper()
	b, err := d.Store.Backfill(d.T.Context(), id)
	require.NoError(d.T, err)
	return b
}

// filled are the backfilled runs of a job, by scheduled time.
func (d *desk) filled(id string) []*entity.Execution {
	d.T.Helper()
	return slices.DeleteFunc(d.Rows(id), func(e *entity.Execution) bool { return !identity.IsBackfill(e.FireKey) })
}

// seconds are the scheduled times of rows, after noon.
func seconds(rows []*entity.Execution) (out []int) {
	for _, row := range rows {
		out = append(out, int(row.ScheduledTime.Sub(enginetest.Noon)/time.Second))
	}
	return out
}

// endOne ends the oldest backfilled run that waits, as a cancel does: its place
// is given on.
func (d *desk) endOne(id string) bool {
	d.T.Helper()
	for _, row := range d.filled(id) {
		if row.Status == entity.StatusWaiting {
			require.NoError(d.T, d.Executions.Cancel(d.T.Context(), row.ID))
			return true
		}
	}
	return false
}

// drive ends runs and looks until a backfill is over.
func (d *desk) drive(b entity.Backfill) entity.Backfill {
	d.T.Helper()
	for range 200 {
		if d.look(); d.backfill(b.ID).Status != entity.BackfillActive {
			return d.backfill(b.ID)
		}
		d.endOne(b.JobID)
	}
	require.Fail(d.T, "the backfill does not end")
	return b
}

// What ran is left out, what was skipped runs, and times before the job was
// made are those that it would have had.
func TestABackfillRunsEachTimeOnce(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(everyTenSeconds(func(j *entity.Job) { j.Priority = 7 }))
		for range 3 {
			d.After(10 * time.Second)
		}
		d.Clock.Advance(time.Second)
		rows := d.Rows(job.ID)
		d.Finish(rows[0].ID, entity.StatusFailed, entity.ReasonError)
		d.Finish(rows[1].ID, entity.StatusSkipped, entity.ReasonDeadline)
		plan, err := d.Backfills.Plan(d.T.Context(), job.ID, d.span(-25, 30, 1))
		require.NoError(d.T, err)
		require.Equal(d.T, []any{5, 1}, []any{plan.Total, plan.AlreadyRun})
		require.Equal(d.T, []time.Time{noon(-20 * time.Second), noon(-10 * time.Second), noon(0), noon(20 * time.Second)},
			plan.Times)
		require.Equal(d.T, []time.Time{noon(10 * time.Second)}, plan.LeftOut)
		require.Len(d.T, d.Rows(job.ID), 3, "nothing was stored")
		none, _, err := d.Backfills.List(d.T.Context(), job.ID, repository.Page{})
		require.NoError(d.T, err)
		require.Empty(d.T, none)

		b := d.fill(job.ID, -25, 31, 2)
		require.Equal(d.T, []any{entity.BackfillActive, 6, 2, 2, "ann"}, []any{
			b.Status, b.Total, b.AlreadyRun, b.Started,
			b.User,
		}, "it begins at once")
		first := d.filled(job.ID)[0]
		require.Equal(d.T, []any{entity.TriggerManual, noon(-20 * time.Second), 7, time.Duration(0)},
			[]any{first.Trigger, first.ScheduledTime, first.Priority, d.Time.Now().Sub(first.DueTime)})
		b = d.drive(b)
		require.Equal(d.T, []any{entity.BackfillDone, 6, 2, 4}, []any{b.Status, b.Total, b.AlreadyRun, b.Started})
		require.Equal(d.T, []int{-20, -10, 0, 20}, seconds(d.filled(job.ID)))

		b = d.drive(d.fill(job.ID, -25, 31, 2))
		require.Equal(d.T, []any{entity.BackfillDone, 6, 6, 0}, []any{b.Status, b.Total, b.AlreadyRun, b.Started},
			"a second one finds nothing")
		require.Len(d.T, d.filled(job.ID), 4)
	})
}

func TestOverlappingBackfillsShareTheTimes(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(everyTenSeconds(nil))
		var made [3]entity.Backfill
		var wg sync.WaitGroup
		for i := range made {
			wg.Go(func() {
				b, err := d.Backfills.Start(d.T.Context(), job.ID, d.span(-100-50*i, -20*i, 4))
				if err == nil {
					made[i] = b
				}
			})
		}
		wg.Wait()
		started := 0
		for _, b := range made {
			require.NotEmpty(d.T, b.ID)
			b = d.drive(b)
			require.Equal(d.T, b.Total, b.AlreadyRun+b.Started)
			started += b.Started
		}
		want := make([]int, 20)
		for i := range want {
			want[i] = -200 + 10*i
		}
		require.Equal(d.T, want, seconds(d.filled(job.ID)))
		require.Equal(d.T, len(want), started)
	})
}

// A cursor and its runs are one commit: whatever becomes of that, no time runs
// twice and none is forgotten.
func TestACrashLeavesNothingHalfDone(t *testing.T) {
	for name, c := range map[string]struct {
		fault enginetest.Fault
		rows  int
	}{
		"lost commit": {enginetest.LostCommit, 0}, "lost reply": {enginetest.LostReply, 3},
		"refused": {enginetest.Refused, 0}, "deadlock": {enginetest.Deadlock, 3},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				job := d.Create(everyTenSeconds(func(j *entity.Job) { j.MaxConcurrency = 3 }))
				d.Faults.Next("backfill", c.fault)
				b := d.backfill(d.fill(job.ID, -60, 0, 5).ID)
				require.Len(d.T, d.filled(job.ID), c.rows)
				require.Len(d.T, b.Open, c.rows)
				require.Equal(d.T, c.rows, b.Started)
				require.Equal(d.T, c.rows == 0, b.Cursor.Equal(b.From))
				b = d.drive(b)
				require.Equal(d.T, []any{entity.BackfillDone, 6}, []any{b.Status, b.Started})
				require.Equal(d.T, []int{-60, -50, -40, -30, -20, -10}, seconds(d.filled(job.ID)))
			})
		})
	}
}

func TestABackfillHoldsItsMeasure(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(func(j *entity.Job) { j.ShardCount = 3 }))
	b := d.fill(job.ID, -50, 0, 2)
	for ended := 0; d.backfill(b.ID).Status == entity.BackfillActive; ended++ {
		live := map[string]bool{}
		for _, row := range d.filled(job.ID) {
			if !row.Status.Final() {
				live[row.FireKey] = true
			}
		}
		require.LessOrEqual(t, len(live), 2, "fires are counted, not shards")
		require.LessOrEqual(t, ended, 15)
		d.endOne(job.ID)
		d.look()
		d.look()
	}
	require.Len(t, d.filled(job.ID), 15)
}

// A backfill takes free places only: it neither is skipped nor ends a run of
// the schedule.
func TestABackfillTakesFreePlacesOnly(t *testing.T) {
	for _, policy := range []entity.OverlapPolicy{
		entity.OverlapDiscard, entity.OverlapSerial, entity.OverlapReplace,
		entity.OverlapParallel,
	} {
		t.Run(string(policy), func(t *testing.T) {
			eachStore(t, func(d *desk) {
				job := d.Create(everyTenSeconds(func(j *entity.Job) { j.Overlap, j.MaxConcurrency, j.MaxQueued = policy, 1, 1 }))
				d.After(10 * time.Second)
				scheduled := d.Rows(job.ID)[0]
				b := d.fill(job.ID, -30, 0, 3)
				d.look()
				require.Empty(d.T, d.filled(job.ID), "the place is taken")
				require.NoError(d.T, d.Executions.Cancel(d.T.Context(), scheduled.ID))
				d.look()
				d.look()
				require.Equal(d.T, []int{-30}, seconds(d.filled(job.ID)), "one place, one run")
				b = d.drive(b)
				require.Equal(d.T, []string{"CANCELLED", "CANCELLED", "CANCELLED"}, enginetest.States(d.filled(job.ID)))
				require.Equal(d.T, []any{entity.BackfillDone, 3}, []any{b.Status, b.Started})
			})
		})
	}
}

// Times that the schedule has yet to decide are its own.
func TestTheScheduleGoesFirst(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.Clock.Advance(25 * time.Second)
	b := d.fill(job.ID, 0, 25, 9)
	require.Equal(t, []int{0}, seconds(d.filled(job.ID)))
	d.endOne(job.ID)
	d.look()
	require.Equal(t, entity.BackfillActive, d.backfill(b.ID).Status)
	d.Fire(t)
	d.Finish(d.Rows(job.ID)[1].ID, entity.StatusSkipped, entity.ReasonOverlap)
	b = d.drive(b)
	require.Equal(t, []any{1, 2}, []any{b.AlreadyRun, b.Started})
	require.Equal(t, []int{0, 10}, seconds(d.filled(job.ID)))
}

func TestABackfillGoesOnWhateverBecomesOfTheDefinition(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.After(15 * time.Second)
	b := d.fill(job.ID, -20, 10, 1)
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.endOne(job.ID)
	d.look()
	require.Len(t, d.filled(job.ID), 2, "pausing stops planning only")
	d.Replace(job.ID, func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 0 1 1 ?", TimeZone: "UTC"}
	})
	b = d.drive(b)
	require.Equal(t, []any{3, 3, 0}, []any{b.Total, b.Started, b.AlreadyRun})
	require.Equal(t, []int{-20, -10, 0}, seconds(d.filled(job.ID)), "the times are those it began with")
}

func TestACancelledBackfillStartsNothingMore(t *testing.T) {
	d := newDesk(t)
	job, other := d.Create(everyTenSeconds(nil)), d.Create(enginetest.Job("other", nil))
	b := d.fill(job.ID, -50, 0, 2)
	_, err := d.Backfills.Cancel(t.Context(), other.ID, b.ID)
	requireCode(t, err, apperror.KindNotFound, "not_found")
	cancelled, err := d.Backfills.Cancel(t.Context(), job.ID, b.ID)
	require.NoError(t, err)
	require.Equal(t, entity.BackfillCancelled, cancelled.Status)
	d.endOne(job.ID)
	d.look()
	require.NoError(t, d.Filler.Admit(t.Context(), b), "nor for one who has not heard of it")
	require.Equal(t, []string{"CANCELLED", "WAITING"}, enginetest.States(d.filled(job.ID)), "what it made goes on")
	_, err = d.Backfills.Cancel(t.Context(), job.ID, b.ID)
	require.NoError(t, err, "twice is once")
	done := d.drive(d.fill(job.ID, -50, -40, 1))
	_, err = d.Backfills.Cancel(t.Context(), job.ID, done.ID)
	requireCode(t, err, apperror.KindConflict, "already_done")
	list, _, err := d.Backfills.List(t.Context(), job.ID, repository.Page{})
	require.NoError(t, err)
	require.Equal(t, []string{done.ID, b.ID}, []string{list[0].ID, list[1].ID}, "newest first")
}

func TestADeletedJobEndsItsBackfills(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	b := d.fill(job.ID, -50, 0, 1)
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	d.Finish(d.filled(job.ID)[0].ID, entity.StatusCancelled, entity.ReasonDeleted)
	d.look()
	require.Equal(t, entity.BackfillCancelled, d.backfill(b.ID).Status)
	require.Len(t, d.filled(job.ID), 1)
	_, err := d.Backfills.Start(t.Context(), job.ID, d.span(-50, 0, 1))
	requireCode(t, err, apperror.KindNotFound, "not_found")
	_, _, err = d.Backfills.List(t.Context(), job.ID, repository.Page{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

func TestWhatCannotBeFilledSaysWhy(t *testing.T) {
	d := newDesk(t)
	fields := func(err error) string {
		requireCode(t, err, apperror.KindInvalid, "invalid")
		var f *apperror.Error
		require.ErrorAs(t, err, &f)
		var out []string
		for _, one := range f.Fields {
			out = append(out, one.Field+" "+one.Code)
		}
		return strings.Join(out, ", ")
	}
	of := func(spec schedule.Spec) *entity.Job {
		return d.Create(enginetest.Job(string(spec.Kind)+spec.CronExpression, func(j *entity.Job) { j.Schedule = spec }))
	}
	rate := of(schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1000})
	for _, c := range []struct {
		job  *entity.Job
		ask  execution.Backfill
		want string
	}{
		{rate, execution.Backfill{}, "from required, to required, maxParallel out_of_range"},
		{rate, d.span(-10, 1, 101), "to in_the_future, maxParallel out_of_range"},
		{rate, d.span(-10, -10, 1), "to out_of_order"},
		{rate, d.span(-10_001, 0, 1), "from too_many_times, to too_many_times"},
		{of(schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1000}), d.span(-10, 0, 1), "schedule no_planned_times"},
		{of(schedule.Spec{Kind: schedule.None}), d.span(-10, 0, 1), "schedule no_planned_times"},
	} {
		_, err := d.Backfills.Plan(t.Context(), c.job.ID, c.ask)
		require.Equal(t, c.want, fields(err))
		_, err = d.Backfills.Start(t.Context(), c.job.ID, c.ask)
		require.Equal(t, c.want, fields(err))
	}
	plan, err := d.Backfills.Plan(t.Context(), rate.ID, d.span(-10_000, 0, 1))
	require.NoError(t, err)
	require.Len(t, plan.Times, 10_000)
}

// Past times that were run on demand stand in the ledger beside what became of
// them before.
func TestTheLedgerShowsBackfilledTimes(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(func(j *entity.Job) { j.ShardCount = 2 }))
	d.After(10 * time.Second)
	for _, row := range d.Rows(job.ID) {
		d.Finish(row.ID, entity.StatusSkipped, entity.ReasonDeadline)
	}
	d.Clock.Advance(time.Second)
	d.fill(job.ID, 0, 11, 5)
	entries, _ := ledger(t, d, entity.LedgerQuery{JobID: job.ID, To: noon(15 * time.Second)})
	require.ElementsMatch(t, []told{{10, "SKIPPED"}, {10, "WAITING"}, {0, "WAITING"}}, tell(entries))
	last := entries[len(entries)-1]
	require.Equal(t, "backfill:2026-11-20T12:00:00.000Z", last.FireKey)
	require.Len(t, last.ExecutionIDs, 2)
}
