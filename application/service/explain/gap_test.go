package explain_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// A time that the clocks leave out has no fire, and the rest of the answer holds for the schedule of that time. Berlin
// has no 2026-03-29 02:00 to 03:00 and no 2027-03-28 02:00 to 03:00 (tz database); the jobs are made on 2026-11-20.
func TestWhatRunsInsteadOfATimeThatDoesNotExistHoldsForTheJob(t *testing.T) {
	change := at("2027-03-28T03:00:00+02:00")
	for name, c := range map[string]struct {
		job       func(j *entity.Job)
		wall      string
		says, not []string
	}{
		"before the job was made": {
			nil, "2026-03-29T02:30",
			[]string{"MADE_LATER : the job was made later, at 2026-11-20 13:00:00+01:00"},
			[]string{"GAP_", "NEXT_IN_SCHEDULE"},
		},
		"a schedule that begins later": {
			func(j *entity.Job) { j.Schedule.StartTime = change.Add(24 * time.Hour) }, "2027-03-28T02:30",
			[]string{"the next time that it names is 2027-03-30 02:30:00+02:00"},
			[]string{"GAP_"},
		},
		"a schedule that has ended": {
			func(j *entity.Job) { j.Schedule.EndTime = change.Add(-time.Hour) }, "2027-03-28T02:30", nil,
			[]string{"GAP_", "NEXT_IN_SCHEDULE"},
		},
		"no schedule": {
			func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.None, TimeZone: "Europe/Berlin"} },
			"2027-03-28T02:30", nil,
			[]string{"GAP_", "NEXT_IN_SCHEDULE"},
		},
		"a rate": {
			func(j *entity.Job) {
				j.Schedule = schedule.Spec{
					Kind: schedule.FixedRate, IntervalMs: 3_600_000, StartTime: noon(0), TimeZone: "Europe/Berlin",
				}
			},
			"2027-03-28T02:30",
			[]string{"FIRE_THEN : the fire of 2027-03-28 03:00:00+02:00: PLANNED"},
			[]string{"GAP_"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(cron("0 30 2 * * ?", c.job))
			a, facts := asked(t, d, explain.Query{JobID: job.ID, Wall: wall(c.wall)})
			require.Equal(t, "NOT_PLANNED NO_SUCH_TIME", string(a.Verdict)+" "+string(a.Code))
			requireFacts(t, facts, c.says, c.not)
		})
	}
}

// A pause over the change has kept the fire from running that stands for the time.
func TestAPauseOverATimeThatDoesNotExistIsTold(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 30 2 * * ?", TimeZone: "Europe/Berlin"}
	}))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{User: "ann"})
	require.NoError(t, err)
	d.Clock.Advance(at("2027-04-10T00:00:00Z").Sub(d.Clock.Now()))
	_, err = d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	a, facts := asked(t, d, explain.Query{JobID: job.ID, Wall: wall("2027-03-28T02:30")})
	require.Equal(t, explain.NoSuchTime, a.Code)
	require.Contains(t, facts, "FIRE_THEN : the fire of 2027-03-28 03:00:00+02:00: SKIPPED, PAUSED")
}

// While a run waits for the attempt after the loss of its node, that node is named, too.
func TestTheLostNodeIsNamedBeforeTheNextAttempt(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(servicetest.EveryTenSeconds(nil))
	d.After(10 * time.Second)
	id := d.Rows(job.ID)[0].ID
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		r := rows[0]
		r.Attempt, r.NodeLosses = 1, 1
		if err := tx.Executions.Update(ctx, r, r.Status, r.Token); err != nil {
			return err
		}
		return tx.Records.AddAttempts(ctx, []entity.Attempt{{
			ExecutionID: id, Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonNodeLost, NodeID: "node-9",
			StartTime: noon(10 * time.Second), EndTime: noon(11 * time.Second),
		}})
	})
	for _, moment := range []time.Time{noon(10 * time.Second), {}} {
		a, facts := asked(t, d, explain.Query{JobID: job.ID, At: moment})
		require.Equal(t, explain.Waiting, a.Verdict)
		require.Contains(t, facts, "NODE_WAS_LOST node-9: node node-9 was lost while it ran attempt 1\n")
	}
}

// A fire behind the next one has the jitter of the job, too.
func TestALaterFireShowsItsRealStart(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "UTC", JitterMs: 600_000}
	}))
	later := job.NextFireTime.Add(40 * 24 * time.Hour)
	a, facts := asked(t, d, explain.Query{JobID: job.ID, At: later})
	require.Equal(t, explain.Planned, a.Verdict)
	start := later.Add(job.DueTime.Sub(job.NextFireTime)).Format("2006-01-02 15:04:05.000Z07:00")
	require.Contains(t, facts, ", to "+start)
}
