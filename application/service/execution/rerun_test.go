package execution_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// failed runs a job by hand, and ends the run with a message.
func (d *desk) failed(job string, status entity.Status, reason entity.Reason, message string) string {
	d.T.Helper()
	id := d.Trigger(job)[0]
	d.Finish(id, status, reason)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		rows[0].ErrorMessage = message
		return tx.Executions.Update(ctx, rows[0], status, rows[0].Token)
	})
	d.Clock.Advance(time.Second)
	return id
}

func (d *desk) plan(f execution.RerunFilter, limit int, visible ...string) execution.RerunPlan {
	d.T.Helper()
	plan, err := d.Executions.PlanRerun(d.T.Context(), "ann", f, limit, visible)
	require.NoError(d.T, err)
	return plan
}

func TestAPlanCountsTheFailedRunsThatWouldRunAgain(t *testing.T) {
	eachStore(t, func(d *desk) {
		in := func(name, group string) string {
			return d.Create(enginetest.Job(name, waiting(func(j *entity.Job) { j.Group = group }))).ID
		}
		orders, mail, gone, well := in("orders", "shop"), in("mail", "shop"), in("gone", "shop"), in("well", "other")
		ok := d.failed(orders, entity.StatusSuccess, entity.ReasonNone, "")
		first := d.failed(orders, entity.StatusFailed, entity.ReasonExitCode, "error: order 17 is missing")
		second := d.failed(orders, entity.StatusFailed, entity.ReasonExitCode, "error: order 18 is missing")
		lost := d.failed(mail, entity.StatusDead, entity.ReasonNodeLost, "the node is gone")
		d.failed(gone, entity.StatusFailed, entity.ReasonError, "x")
		require.NoError(t, d.Jobs.Delete(t.Context(), gone, 0))
		recovered := d.failed(well, entity.StatusTimeout, entity.ReasonTimeout, "slow")
		d.failed(well, entity.StatusSuccess, entity.ReasonNone, "")

		plan := d.plan(execution.RerunFilter{}, 100)
		require.Equal(t, []string{first, second, lost}, plan.IDs, "the oldest first, without %s and %s", ok, recovered)
		require.Equal(t, []execution.FailureJob{{ID: orders, Count: 2}, {ID: mail, Count: 1}}, plan.Jobs)
		require.Equal(t, []int{1, 1}, []int{plan.Succeeded, plan.Deleted})
		require.True(t, plan.Complete)
		require.Len(t, plan.Causes, 2, "numbers do not part a cause")
		require.Equal(t, 2, plan.Causes[0].Count)
		require.Equal(t, second, plan.Causes[0].Last.ID)

		for _, c := range []struct {
			want []string
			f    execution.RerunFilter
		}{
			{[]string{first, second}, execution.RerunFilter{Cause: plan.Causes[0].Cause}},
			{[]string{lost}, execution.RerunFilter{Reason: entity.ReasonNodeLost}},
			{[]string{first, second}, execution.RerunFilter{JobIDs: []string{orders}}},
			{[]string{lost}, execution.RerunFilter{Statuses: []entity.Status{entity.StatusDead, entity.StatusTimeout}}},
			{[]string{first, second, lost}, execution.RerunFilter{Groups: []string{"shop"}}},
			{[]string{recovered}, execution.RerunFilter{Groups: []string{"other"}, Succeeded: true}},
			{nil, execution.RerunFilter{Groups: []string{"nobodys"}}},
		} {
			plan := d.plan(c.f, 100)
			require.Equal(t, c.want, plan.IDs, "%+v", c.f)
		}
		plan = d.plan(execution.RerunFilter{}, 100, "other")
		require.Empty(t, plan.IDs, "the caller may start runs of another group alone")
		require.Equal(t, 1, plan.Succeeded)
		plan = d.plan(execution.RerunFilter{}, 1)
		require.Equal(t, []string{lost}, plan.IDs, "the newest counts")
		require.True(t, plan.More)
	})
}

// A plan holds the runs that it counted: what happens afterwards adds none and takes none away.
func TestAPlanIsTheRunsThatItCounted(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("orders", waiting(nil))).ID
	var ids []string
	for range 5 {
		ids = append(ids, d.failed(job, entity.StatusFailed, entity.ReasonError, "no"))
	}
	plan := d.plan(execution.RerunFilter{}, 3)
	require.Equal(t, ids[2:], plan.IDs)
	require.True(t, plan.More)
	planID, err := execution.PlanID(plan.IDs, plan.Made)
	require.NoError(t, err)
	d.failed(job, entity.StatusFailed, entity.ReasonError, "later")
	d.failed(job, entity.StatusSuccess, entity.ReasonNone, "")
	for range 2 {
		now, made, err := d.Executions.PlanOf(planID)
		require.NoError(t, err)
		require.Equal(t, ids[2:], now)
		require.Equal(t, plan.Made, made)
	}
}

// A plan that is sent several times, also at the same time, starts each run once.
func TestARunOfAPlanStartsOnce(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("orders", waiting(nil))).ID
		id := d.failed(job, entity.StatusFailed, entity.ReasonError, "no")
		var all sync.WaitGroup
		var started, refused atomic.Int32
		for range 6 {
			all.Go(func() {
				switch _, err := d.Executions.RetryOnce(t.Context(), id, entity.Actor{User: "ann"}); {
				case err == nil:
					started.Add(1)
				case apperror.Is(err, apperror.KindConflict):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Equal(t, []int32{1, 5}, []int32{started.Load(), refused.Load()})
		require.Len(t, d.Rows(job), 2)
		require.Equal(t, 1, d.plan(execution.RerunFilter{}, 100).Repeated)
	})
}

// A repetition that its job would skip is refused, and one that was skipped or cancelled does not stand for its run.
func TestARunWhoseRepetitionDidNotRunIsOfferedAgain(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("orders", waiting(nil))).ID
	var ids []string
	for range 3 {
		ids = append(ids, d.failed(job, entity.StatusFailed, entity.ReasonError, "no"))
	}
	d.Replace(job, func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 })
	retry := func(id string) (string, error) { return d.Executions.RetryOnce(t.Context(), id, entity.Actor{}) }
	first, err := retry(ids[0])
	require.NoError(t, err)
	_, err = retry(ids[1])
	require.NoError(t, err)
	_, err = retry(ids[2])
	requireCode(t, err, apperror.KindConflict, "skipped")
	require.ErrorContains(t, err, "QUEUE_FULL")
	require.Equal(t, ids[2:], d.plan(execution.RerunFilter{}, 100).IDs)
	require.NoError(t, d.Executions.Cancel(t.Context(), first))
	require.Equal(t, []string{ids[0], ids[2]}, d.plan(execution.RerunFilter{}, 100).IDs)
	_, err = retry(ids[1])
	requireCode(t, err, apperror.KindConflict, "already_run_again")
}

// One shard that somebody ran again is no fire that succeeded.
func TestARepeatedShardIsNoSuccessOfTheJob(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("shards", waiting(func(j *entity.Job) { j.ShardCount = 2 }))).ID
	var ids []string
	for range 2 {
		for _, id := range d.Trigger(job) {
			d.Finish(id, entity.StatusFailed, entity.ReasonError)
			ids = append(ids, id)
		}
		d.Clock.Advance(time.Second)
	}
	again, err := d.Executions.Retry(t.Context(), ids[2], entity.Actor{})
	require.NoError(t, err)
	d.Finish(again, entity.StatusSuccess, entity.ReasonNone)
	plan := d.plan(execution.RerunFilter{}, 100)
	require.ElementsMatch(t, []string{ids[0], ids[1], ids[3]}, plan.IDs)
	require.Zero(t, plan.Succeeded)
}

func TestAUserCountsOnePlanAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		entered, leave := make(chan struct{}), make(chan struct{})
		d.Executions.FailureRows = slowFailures(func() { close(entered); <-leave })
		done := make(chan error)
		go func() {
			_, err := d.Executions.PlanRerun(t.Context(), "ann", execution.RerunFilter{}, 1, nil)
			done <- err
		}()
		<-entered
		_, err := d.Executions.PlanRerun(t.Context(), "ann", execution.RerunFilter{}, 1, nil)
		requireCode(t, err, apperror.KindTooMany, "too_many_plans")
		close(leave)
		require.NoError(t, <-done)
	})
}

type slowFailures func()

func (f slowFailures) Failures(context.Context, repository.FailureFilter, int) ([]repository.Failure, bool, error) {
	f()
	return nil, true, nil
}

// A repetition that failed stands for the run that it repeats.
func TestAFailedRepetitionIsRunAgainInItsPlace(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("orders", waiting(nil))).ID
	first := d.failed(job, entity.StatusFailed, entity.ReasonError, "no")
	second, err := d.Executions.Retry(t.Context(), first, entity.Actor{})
	require.NoError(t, err)
	d.Finish(second, entity.StatusFailed, entity.ReasonError)
	d.Clock.Advance(time.Second)
	plan := d.plan(execution.RerunFilter{}, 100)
	require.Equal(t, []string{second}, plan.IDs)
	require.Equal(t, 1, plan.Repeated)
}

func TestAPlanThatIsNoneIsRefused(t *testing.T) {
	d := newDesk(t)
	planID := func(ids ...string) string {
		text, err := execution.PlanID(ids, d.Time.Now())
		require.NoError(t, err)
		return text
	}
	good := planID("a", "b")
	for _, id := range []string{
		"", "x", "e30", good[:len(good)-8], planID(), planID(""), planID("b", "a"), planID("a", "a"),
		planID(strings.Repeat("a", 65)), planID(strings.Repeat("a", 1<<20)),
		planID(strings.Split(strings.Repeat("a", execution.MaxRerun+1), "")...),
	} {
		_, _, err := d.Executions.PlanOf(id)
		requireKind(t, apperror.KindInvalid, err)
	}
	d.Clock.Advance(execution.PlanFor + time.Second)
	_, _, err := d.Executions.PlanOf(good)
	require.ErrorContains(t, err, "ten minutes")
	_, err = d.Executions.PlanRerun(t.Context(), "ann", execution.RerunFilter{From: d.Time.Now().Add(time.Hour)}, 1, nil)
	requireKind(t, apperror.KindInvalid, err)
}
