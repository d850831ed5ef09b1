package alerting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// promise adds a job with a fire of now, which is to have succeeded an hour later.
func (d *desk) promise(status entity.Status, change func(j *entity.Job)) (*entity.Job, *entity.Execution) {
	d.T.Helper()
	job := d.Add(d.T, enginetest.Job("settle", func(j *entity.Job) {
		j.Deadline = entity.JobDeadline{At: "13:00", TimeZone: "UTC", OnMiss: entity.MissAlert}
		if change != nil {
			change(j)
		}
	}))
	now := d.Clock.Now()
	e := &entity.Execution{
		ID: identity.ExecutionID(now, job.ID, identity.FireKey(now), 0), JobID: job.ID, FireKey: identity.FireKey(now),
		ScheduledTime: now, DueTime: now, Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5,
		Status: status, Attempt: 1, StartTime: now, CreateTime: now, UpdateTime: now,
	}
	if status.Final() {
		e.EndTime = now
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{e}); err != nil {
			return err
		}
		return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{{
			Moment: now.Add(time.Hour), JobID: job.ID, FireKey: e.FireKey, ScheduledTime: now,
		}})
	})
	return job, e
}

func (d *desk) deadlines() {
	d.T.Helper()
	_, err := d.Leader(d.Faults).Deadlines(d.T.Context())
	require.NoError(d.T, err)
}

func (d *desk) left() int {
	d.T.Helper()
	found, err := d.Store.Deadlines(d.T.Context(), enginetest.Noon.AddDate(-1, 0, 0), enginetest.Noon.AddDate(1, 0, 0),
		10_000)
	require.NoError(d.T, err)
	return len(found)
}

// A missed deadline is told once, whatever becomes of the commit.
func TestADeadlineIsJudgedOnceWhateverBecomesOfTheCommit(t *testing.T) {
	for name, faults := range map[string][]enginetest.Fault{
		"none": nil, "the reply is lost": {enginetest.LostReply}, "the commit is lost": {enginetest.LostCommit},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job, e := d.promise(entity.StatusFailed, nil)
			d.Clock.Advance(time.Hour)
			d.deadlines()
			require.Equal(t, 1, d.left(), "ends wait a moment for others")
			d.Clock.Advance(5 * time.Second)
			d.Faults.Next("alert-deadline", faults...)
			for range len(faults) {
				_, _ = d.Leader(d.Faults).Deadlines(t.Context())
			}
			d.deadlines()
			a := d.One()
			require.Equal(t, []any{alert.DeadlineMissed, alert.Firing, 1, job.ID, e.ID, enginetest.Noon.Add(time.Hour)},
				[]any{a.Type, a.Status, a.Count, a.JobID, a.ExecutionID, a.LastTime})
			require.Zero(t, d.left())
		})
	}
}

// Two leaders judge a deadline once.
func TestTwoLeadersJudgeADeadlineOnce(t *testing.T) {
	d := newDesk(t)
	d.promise(entity.StatusRunning, nil)
	d.Clock.Advance(time.Hour + 5*time.Second)
	other := false
	d.Faults.Before(func(name string) {
		if name == "alert-deadline" && !other {
			other = true
			n, err := d.Leader(d.Store).Deadlines(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	})
	n, err := d.Leader(d.Faults).Deadlines(t.Context())
	require.NoError(t, err)
	require.True(t, other)
	require.Zero(t, n)
	require.Equal(t, 1, d.One().Count)
}

func TestWhatKeepsADeadline(t *testing.T) {
	for name, c := range map[string]struct {
		status entity.Status
		change func(j *entity.Job)
		later  bool
		missed bool
	}{
		"it succeeded":            {entity.StatusSuccess, nil, false, false},
		"it failed":               {entity.StatusFailed, nil, false, true},
		"a later run succeeded":   {entity.StatusFailed, nil, true, false},
		"the job is paused":       {entity.StatusWaiting, func(j *entity.Job) { j.Status = entity.JobPaused }, false, false},
		"it has no deadline more": {entity.StatusFailed, func(j *entity.Job) { j.Deadline.At = "" }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job, _ := d.promise(c.status, nil)
			if c.change != nil {
				c.change(job)
				job.Version++
				d.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, job, false) })
			}
			d.Clock.Advance(time.Minute)
			if c.later {
				d.End(job, entity.StatusSuccess)
			}
			d.Clock.Advance(time.Hour)
			if !c.later {
				d.End(job, entity.StatusSuccess) // too late
			}
			d.deadlines()
			require.Len(t, d.Alerts(), map[bool]int{true: 1}[c.missed])
			require.Zero(t, d.left())
		})
	}
}

// A run that usually takes two hours will not be done in one.
func TestADeadlineAtRiskIsToldOnce(t *testing.T) {
	d := newDesk(t)
	job, e := d.promise(entity.StatusRunning, nil)
	d.usuallyTwoHours(job)
	for range 3 {
		d.Clock.Advance(5 * time.Second)
		d.deadlines()
	}
	a := d.One()
	require.Equal(t, []any{alert.DeadlineAtRisk, alert.Firing, 1, e.ID}, []any{a.Type, a.Status, a.Count, a.ExecutionID})
	require.Equal(t, 1, d.left(), "it is still to be judged")
}

// Messages name the list that stands in the job: nobody can write alerts.onMissed there.
func TestTheRuleOfADeadlineIsWhatStandsInTheJob(t *testing.T) {
	d := newDesk(t)
	job, _ := d.promise(entity.StatusRunning, nil)
	d.usuallyTwoHours(job)
	d.Clock.Advance(5 * time.Second)
	d.deadlines()
	d.Clock.Advance(time.Hour)
	d.deadlines()
	rules := map[alert.RuleType]string{}
	ids := map[string]bool{}
	for _, a := range d.Alerts() {
		rules[a.Type] = a.Labels["rule"]
		ids[a.RuleID] = true
	}
	require.Equal(t, map[alert.RuleType]string{
		alert.DeadlineAtRisk: "alerts.onLate", alert.DeadlineMissed: "alerts.onLate",
	}, rules)
	require.Len(t, ids, 2, "they stay rules of their own")
}

// usuallyTwoHours says how long the runs of a job have taken.
func (d *desk) usuallyTwoHours(job *entity.Job) {
	d.T.Helper()
	var usual baseline.State
	for i := range 50 {
		usual.Learn(baseline.Run{
			Start:    enginetest.Noon.Add(time.Duration(i-60) * 24 * time.Hour),
			Duration: 2*time.Hour + time.Duration(i)*time.Second,
			Status:   entity.StatusSuccess, Version: 1,
		})
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		id, _ := identity.Bytes(job.ID)
		return tx.Statistics.PutBaselines(ctx, []repository.StoredBaseline{{Job: id, Data: usual.Append(nil)}})
	})
}

// The fires of a frequent job with one deadline a day do not hide the deadlines of others,
// whatever has become of them.
func TestAFrequentJobDoesNotHideDeadlines(t *testing.T) {
	for status, left := range map[entity.Status]int{
		entity.StatusSuccess: 1, entity.StatusFailed: 1201, entity.StatusWaiting: 1201,
	} {
		t.Run(string(status), func(t *testing.T) {
			d := newDesk(t)
			job, e := d.promise(entity.StatusRunning, nil)
			d.usuallyTwoHours(job)
			frequent := d.Add(t, enginetest.Job("frequent", func(j *entity.Job) { j.Deadline = job.Deadline }))
			var fires []*entity.Execution
			var deadlines []entity.Deadline
			for i := range 1200 {
				at := enginetest.Noon.Add(-time.Duration(i) * time.Second)
				f := *e
				f.ID, f.JobID = identity.ExecutionID(at, frequent.ID, identity.FireKey(at), 0), frequent.ID
				f.FireKey, f.ScheduledTime, f.DueTime, f.Status = identity.FireKey(at), at, at, status
				if status.Final() {
					f.EndTime = enginetest.Noon
				}
				fires = append(fires, &f)
				deadlines = append(deadlines, entity.Deadline{
					Moment: enginetest.Noon.Add(50 * time.Minute), JobID: frequent.ID, FireKey: f.FireKey, ScheduledTime: at,
				})
			}
			d.Write(t, func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Executions.Insert(ctx, fires); err != nil {
					return err
				}
				return tx.Alerts.AddDeadlines(ctx, deadlines)
			})
			d.Clock.Advance(5 * time.Second)
			d.deadlines()
			require.Equal(t, []any{alert.DeadlineAtRisk, job.ID}, []any{d.One().Type, d.One().JobID})
			require.Equal(t, left, d.left(), "what is kept is forgotten, what is not is still to be judged")
			if status.Final() {
				untold, err := d.Store.UnreportedDeadlines(t.Context(), entity.Deadline{}, enginetest.Noon.Add(time.Hour), 2)
				require.NoError(t, err)
				require.Empty(t, untold, "it is not met again")
			}
			if status == entity.StatusFailed {
				d.Clock.Advance(time.Hour - 4*time.Second)
				for range 3 {
					d.deadlines()
				}
				require.Zero(t, d.left()-1)
				require.Len(t, d.Alerts(), 2, "DEADLINE_MISSED of the frequent job")
			}
		})
	}
}

// A deadline that cannot be judged keeps no other waiting.
func TestADeadlineThatCannotBeJudgedKeepsNoOtherWaiting(t *testing.T) {
	d := newDesk(t)
	d.promise(entity.StatusFailed, nil)
	d.promise(entity.StatusFailed, func(j *entity.Job) { j.Name = "another" })
	d.Clock.Advance(time.Hour + 5*time.Second)
	d.Faults.Next("alert-deadline", enginetest.Refused)
	n, err := d.Leader(d.Faults).Deadlines(t.Context())
	require.Error(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, d.left())
	d.deadlines()
	require.Zero(t, d.left())
}
