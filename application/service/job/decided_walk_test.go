package job_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// walk is a job with which anything is done, in any order.
type walk struct {
	*desk
	id   string
	rand *rand.Rand
	did  []string
}

// edit changes the job, unless that is refused.
func (w *walk) edit(change func(j *entity.Job)) {
	next := *w.Job(w.id)
	change(&next)
	if _, err := w.Jobs.Replace(w.T.Context(), w.id, &next, 0, 0); err != nil {
		w.did = append(w.did, err.Error())
	}
}

// within is a whole number of minutes below a bound.
func (w *walk) within(minutes int) time.Duration {
	return time.Duration(w.rand.IntN(minutes)) * time.Minute
}

// schedules are those that the job may get.
func (w *walk) schedules() []schedule.Spec {
	soon := w.Time.Now().Add(time.Minute + w.within(20)).Truncate(time.Minute)
	return []schedule.Spec{
		{Kind: schedule.Cron, CronExpression: "0 * * * * ?", TimeZone: "UTC"},
		{Kind: schedule.Cron, CronExpression: "0/30 * * * * ?", TimeZone: "UTC", EndTime: soon},
		{Kind: schedule.None},
		{Kind: schedule.FixedRate, IntervalMs: 45_000},
		{Kind: schedule.FixedRate, IntervalMs: 60_000, StartTime: noon(w.within(60))},
		{Kind: schedule.FixedDelay, IntervalMs: 60_000},
		{Kind: schedule.Once, At: soon},
	}
}

func (w *walk) step() {
	ctx, is := w.T.Context(), w.rand.IntN(16)
	w.did = append(w.did, fmt.Sprint(is))
	switch is {
	case 0, 1:
		w.Clock.Jump(w.within(40))
	case 2, 3:
		w.Clock.Jump(-w.within(40))
	case 4, 5, 6:
		w.passes(time.Minute + w.within(4))
	case 7:
		w.edit(func(j *entity.Job) { j.Schedule.JitterMs = w.rand.Int64N(90_000) })
	case 8, 9, 10:
		all := w.schedules()
		w.edit(func(j *entity.Job) { j.Schedule = all[w.rand.IntN(len(all))] })
	case 11:
		policy := []entity.MisfirePolicy{entity.MisfireSkip, entity.MisfireFireOnce, entity.MisfireFireAll}[w.rand.IntN(3)]
		w.edit(func(j *entity.Job) {
			j.Misfire = entity.Misfire{Policy: policy, ThresholdSec: w.rand.IntN(90), WindowSec: 86_400, MaxFires: 5}
		})
	case 12:
		_, _ = w.Jobs.Pause(ctx, w.id, entity.Pause{})
	case 13:
		_, _ = w.Jobs.Resume(ctx, w.id)
	case 14:
		_, _ = w.Groups.Pause(ctx, "default", entity.Pause{})
	case 15:
		_, _ = w.Groups.Resume(ctx, "default")
	}
}

// Rule 3, for edits, pauses and steps of the clock in any order. The last fire is that of the ledger.
func TestNoTimeIsDecidedTwiceWhateverIsDone(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDesk(t)
			w := &walk{desk: d, rand: rand.New(rand.NewPCG(seed, 7))}
			w.id = d.Create(enginetest.Job("walks", waiting(minutely))).ID
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(w.did)
				}
			})
			for range 25 {
				w.step()
			}
			d.onceDecided(w.id)
			var last time.Time
			for _, row := range d.Rows(w.id) {
				if !row.IsRange() && row.ScheduledTime.After(last) {
					last = row.ScheduledTime
				}
			}
			require.Equal(t, last.UnixMilli(), d.Job(w.id).LastFireTime.UnixMilli())
		})
	}
}
