package explain_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

var noon = servicetest.Noon

func explainer(d *servicetest.Desk, change func(p *explain.ExplainService)) *explain.ExplainService {
	service := &explain.ExplainService{
		Ledger: d.Executions.Fires, Jobs: d.Store.Jobs, Executions: d.Store.Executions, Groups: d.Store, Nodes: d.Store,
		Workers: d.Store, WorkerGroups: d.Store.WorkerGroups, Alerts: d.Store, Chains: d.Store,
		Schedules: d.Schedules, Clock: d.Time, Kept: 30 * 24 * time.Hour,
	}
	if change != nil {
		change(service)
	}
	return service
}

// every is a job that fires each ten seconds and whose runs any node may take.
func every(change func(j *entity.Job)) *entity.Job {
	return enginetest.Job("ledger", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000, TimeZone: "UTC"}
		if change != nil {
			change(j)
		}
	})
}

// cron is a job with an expression in Berlin.
func cron(expression string, change func(j *entity.Job)) *entity.Job {
	return enginetest.Job("cron", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: expression, TimeZone: "Europe/Berlin"}
		if change != nil {
			change(j)
		}
	})
}

// held makes runs of the node's executor go on until the test ends.
func held(d *servicetest.Desk) {
	d.T.Cleanup(d.Script.Hold())
	d.Node.Start(d.T)
}

// begun waits until a run of a job runs.
func begun(d *servicetest.Desk, job *entity.Job) {
	d.T.Helper()
	enginetest.Await(d.T, func() bool {
		for _, r := range d.Rows(job.ID) {
			if r.Status == entity.StatusRunning {
				return true
			}
		}
		return false
	}, "a run begins")
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// question is a job, a moment, and what the answer must be.
type question struct {
	name    string
	arrange func(d *servicetest.Desk) (jobID string, at time.Time)
	verdict explain.Verdict
	code    explain.Code
	// text is in the sentence, facts begin or are in texts of facts, in any order.
	text  string
	facts []string
}

func TestEachAnswer(t *testing.T) {
	for _, q := range append(append(fires(), waits()...), plans()...) {
		t.Run(q.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := servicetest.New(t)
				id, moment := q.arrange(d)
				a, err := explainer(d, nil).Explain(t.Context(), explain.Query{
					JobID: id, At: moment, SeesRuns: true, SeesAlerts: true,
				})
				require.NoError(t, err)
				require.Equal(t, string(q.verdict)+" "+string(q.code), string(a.Verdict)+" "+string(a.Code), a.Text)
				require.Contains(t, a.Text, q.text)
				var all strings.Builder
				saysWhole(t, a.Verdict, a.Code, a.Params, a.Text)
				for _, f := range a.Facts {
					saysWhole(t, "", f.Code, f.Params, f.Text)
					all.WriteString(string(f.Code) + " " + f.ID + ": " + f.Text + "\n")
				}
				for _, want := range q.facts {
					require.Contains(t, all.String(), want)
				}
				require.False(t, a.Time.IsZero())
				require.Contains(t, explain.Verdicts(), a.Verdict)
			})
		})
	}
}

func fires() []question {
	return []question{
		{
			"it succeeded", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(every(nil))
				d.Node.Start(d.T)
				d.After(10 * time.Second)
				d.AwaitStatus(d.T, d.Rows(job.ID)[0].ID, entity.StatusSuccess)
				return job.ID, noon(10 * time.Second)
			}, explain.Fired, "SUCCESS", "the fire of 2026-11-20 12:00:10Z was run, 0s late, and succeeded",
			[]string{"began at 2026-11-20 12:00:10Z on node node-1", "NEXT_FIRE : its next fire is of 2026-11-20 12:00:20Z"},
		},
		{"it failed", func(d *servicetest.Desk) (string, time.Time) {
			d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonExitCode, "exit 3")))
			job := d.Create(every(nil))
			d.Node.Start(d.T)
			d.After(10 * time.Second)
			d.AwaitStatus(d.T, d.Rows(job.ID)[0].ID, entity.StatusFailed)
			return job.ID, time.Time{}
		}, explain.Fired, "FAILED", "ended as FAILED, EXIT_CODE: the command ended with a code that is no success", nil},
		{"the first of its minute", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			d.Node.Start(d.T)
			for range 3 {
				d.After(10 * time.Second)
			}
			for _, r := range d.Rows(job.ID) {
				d.AwaitStatus(d.T, r.ID, entity.StatusSuccess)
			}
			return job.ID, noon(0)
		}, explain.Fired, "SUCCESS", "12:00:10Z", nil},
		{"it runs", func(d *servicetest.Desk) (string, time.Time) {
			held(d)
			job := d.Create(every(nil))
			d.After(10 * time.Second)
			begun(d, job)
			return job.ID, noon(10 * time.Second)
		}, explain.Running, "RUNNING", "runs, 0s late", []string{"is on node node-1 since 2026-11-20 12:00:10Z"}},
		{
			"its node is down", func(d *servicetest.Desk) (string, time.Time) {
				held(d)
				job := d.Create(every(nil))
				d.After(10 * time.Second)
				begun(d, job)
				d.Die(d.T)
				return job.ID, noon(10 * time.Second)
			}, explain.Running, "RUNNING", "runs",
			[]string{"NODE_AWAY node-1: node node-1 is DOWN, its last beat was at", "onNodeLoss"},
		},
		{"it was missed", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(func(j *entity.Job) { j.Misfire.Policy = entity.MisfireSkip }))
			d.After(10 * time.Minute)
			return job.ID, noon(20 * time.Second)
		}, explain.Skipped, "MISFIRE", "MISFIRE: no node could fire it in time", nil},
		{
			"the run before went on", func(d *servicetest.Desk) (string, time.Time) {
				held(d)
				job := d.Create(every(func(j *entity.Job) { j.Overlap = entity.OverlapDiscard }))
				d.After(10 * time.Second)
				begun(d, job)
				d.After(10 * time.Second)
				return job.ID, noon(20 * time.Second)
			}, explain.Skipped, "OVERLAP", "the run before it had not ended",
			[]string{
				"in the way was the run", "of 2026-11-20 12:00:10Z: it began at", "goes on",
				"policy of the job is DISCARD",
			},
		},
		{
			"the queue was full", func(d *servicetest.Desk) (string, time.Time) {
				held(d)
				job := d.Create(every(func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 }))
				d.After(10 * time.Second)
				begun(d, job)
				d.After(10 * time.Second)
				d.After(10 * time.Second)
				return job.ID, noon(30 * time.Second)
			}, explain.Skipped, "QUEUE_FULL", "as many fires as maxQueued allows were waiting already",
			[]string{"maxQueued of the job is 1"},
		},
		{"it was paused then", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			_, err := d.Jobs.Pause(d.T.Context(), job.ID, entity.Pause{Reason: "audit", User: "ann"})
			require.NoError(d.T, err)
			d.Clock.Advance(time.Minute)
			_, err = d.Jobs.Resume(d.T.Context(), job.ID)
			require.NoError(d.T, err)
			return job.ID, noon(20 * time.Second)
		}, explain.Skipped, "PAUSED", "fires from 2026-11-20 12:00:10Z to", nil},
		{"it was repeated by hand", func(d *servicetest.Desk) (string, time.Time) {
			d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
			job := d.Create(every(nil))
			d.Node.Start(d.T)
			d.After(10 * time.Second)
			id := d.Rows(job.ID)[0].ID
			d.AwaitStatus(d.T, id, entity.StatusFailed)
			_, err := d.Executions.Retry(d.T.Context(), id, entity.Actor{})
			require.NoError(d.T, err)
			return job.ID, noon(10 * time.Second)
		}, explain.Fired, "FAILED", "ERROR: the run failed", []string{"REPLAYED", "it was repeated by hand, 1 time;"}},
		{"an alert is open", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(servicetest.EveryTenSeconds(nil))
			d.After(10 * time.Second)
			d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
				_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{{
					ID: "0193-a", Fingerprint: "f", Held: true, Type: alert.JobFailed, Level: alert.Critical, Status: alert.Firing,
					RuleID: "r", JobID: job.ID, Group: job.Group, Content: "it failed", PendingSince: noon(0), StartTime: noon(0),
					LastTime: noon(0), EvidenceUntil: noon(0), Seq: 1, CreateTime: noon(0), UpdateTime: noon(0),
				}})
				return err
			})
			return job.ID, noon(10 * time.Second)
		}, explain.Waiting, "NODE", "waits", []string{"ALERT 0193-a: alert CRITICAL JOB_FAILED, FIRING since", "it failed"}},
	}
}

func waits() []question {
	return []question{
		{"no node has the labels", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) { j.StartDeadlineSec = 600 }))
			d.After(10 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.Waiting, "NODE", "no node that is up carries the labels", []string{
			"the job asks for the label node=nobody", "1 executor is up, and none of them has it",
			"it is given up at 2026-11-20 12:10:10Z, by startDeadlineSec 600",
		}},
		{"the node with the labels is down", func(d *servicetest.Desk) (string, time.Time) {
			other := d.Join(d.T, enginetest.Options{Labels: map[string]string{"node": "nobody"}})[1]
			other.Die(d.T)
			enginetest.Beat(d.T, d.Node)
			job := d.Create(servicetest.EveryTenSeconds(nil))
			d.After(10 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.Waiting, "NODE", "waits", []string{"NODE_FITS_AWAY node-2: node node-2 has it, and is DOWN since"}},
		{"no node has the handler", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(func(j *entity.Job) { j.Class = "settle" }))
			d.After(10 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.Waiting, "HANDLER", "no node that is up has the handler", []string{`the handler "settle"`}},
		{"no node runs commands", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(func(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobCommand, "", `{"script":"ls"}` }))
			d.After(10 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.Waiting, "COMMAND", "no node that is up runs commands", []string{"a node that runs commands"}},
		{
			"all slots are taken", func(d *servicetest.Desk) (string, time.Time) {
				held(d)
				full := d.Create(enginetest.Job("full", func(j *entity.Job) { j.ShardCount = 64 }))
				d.Trigger(full.ID)
				enginetest.Await(d.T, func() bool {
					running, slots := d.Runner.Load(entity.SlotGeneral)
					return running == slots
				}, "every slot is taken")
				enginetest.Beat(d.T, d.Node)
				job := d.Create(every(nil))
				d.After(10 * time.Second)
				return job.ID, noon(10 * time.Second)
			}, explain.Waiting, "SLOT", "every node that may take it is at its slots",
			[]string{"NODE_SLOTS node-1: node node-1 is UP, with 64 of 64 slots taken"},
		},
		{
			"the fire before runs", func(d *servicetest.Desk) (string, time.Time) {
				held(d)
				job := d.Create(every(func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 5 }))
				d.After(10 * time.Second)
				begun(d, job)
				d.After(10 * time.Second)
				return job.ID, noon(20 * time.Second)
			}, explain.Waiting, "JOB", "the fires of the job before it are not over",
			[]string{"the job lets 1 fire run at once; its overlap policy is SERIAL", "is on node node-1 since"},
		},
		{
			"the group is at its limit", func(d *servicetest.Desk) (string, time.Time) {
				d.Grouped(1)
				first, second := d.TenSeconds("first", "g"), d.TenSeconds("second", "g")
				d.After(10 * time.Second)
				for _, job := range []*entity.Job{first, second} {
					if d.Rows(job.ID)[0].Claim.Grouped() {
						return job.ID, noon(10 * time.Second)
					}
				}
				require.Fail(d.T, "none waits")
				return "", time.Time{}
			}, explain.Waiting, "GROUP", "the group of the job is at its limit",
			[]string{"the group g lets 1 fire run at once (maxConcurrency)"},
		},
		{
			"the next attempt is to come", func(d *servicetest.Desk) (string, time.Time) {
				d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "connection refused")))
				job := d.Create(every(func(j *entity.Job) {
					j.Retry = entity.RetryPolicy{MaxRetries: 3, Backoff: entity.BackoffFixed, IntervalMs: 60_000}
				}))
				d.Node.Start(d.T)
				d.After(10 * time.Second)
				d.AwaitStatus(d.T, d.Rows(job.ID)[0].ID, entity.StatusWaiting)
				return job.ID, noon(10 * time.Second)
			}, explain.Waiting, "TIME", "its time, or that of its next attempt, has not come",
			[]string{"attempt 1 ended (ERROR: the run failed); the next one begins at"},
		},
	}
}

func plans() []question {
	midnight := "0 0 0 * * ?"
	return []question{
		{"not yet due", func(d *servicetest.Desk) (string, time.Time) {
			return d.Create(cron(midnight, nil)).ID, at("2026-11-21T00:00:00+01:00")
		}, explain.Planned, "NOT_DUE", "the fire of 2026-11-21 00:00:00+01:00 is still to come, in 11h0m0s", nil},
		{
			"due, and no scheduler decides", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(every(nil))
				d.Clock.Advance(20 * time.Second)
				return job.ID, time.Time{}
			}, explain.Overdue, "UNDECIDED", "the fire of 2026-11-20 12:00:10Z is due since 10s",
			[]string{"NODE_PLANS node-1: node node-1 plans it; it is UP"},
		},
		{"no scheduler is up", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			d.Die(d.T)
			d.Clock.Advance(20 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.Overdue, "NO_SCHEDULER", "is due since", []string{"no scheduler is up: nobody fires jobs"}},
		{
			"the job is paused", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(every(nil))
				_, err := d.Jobs.Pause(d.T.Context(), job.ID,
					entity.Pause{Reason: "the bank is closed", User: "ann", Until: noon(time.Hour)})
				require.NoError(d.T, err)
				d.After(10 * time.Second)
				return job.ID, noon(10 * time.Second)
			}, explain.NotPlanned, "PAUSED",
			"the job is paused by ann: the bank is closed since 2026-11-20 12:00:00Z, until 2026-11-20 13:00:00Z", nil,
		},
		{
			"the job is paused, and no moment is asked for", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(every(nil))
				d.Node.Start(d.T)
				d.After(10 * time.Second)
				d.AwaitStatus(d.T, d.Rows(job.ID)[0].ID, entity.StatusSuccess)
				_, err := d.Jobs.Pause(d.T.Context(), job.ID, entity.Pause{Reason: "audit", User: "ann", Until: noon(time.Hour)})
				require.NoError(d.T, err)
				d.After(10 * time.Second)
				return job.ID, time.Time{}
			}, explain.Fired, "SUCCESS",
			"the job is paused by ann: audit since 2026-11-20 12:00:10Z, until 2026-11-20 13:00:00Z; it would have " +
				"fired 1 time so far; the fire of 2026-11-20 12:00:10Z",
			[]string{"NEXT_FIRE_AFTER_PAUSE : its next fire is of 2026-11-20 13:00:00Z, once the pause has ended"},
		},
		{"the pause will have ended", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			_, err := d.Jobs.Pause(d.T.Context(), job.ID, entity.Pause{Until: noon(time.Hour)})
			require.NoError(d.T, err)
			return job.ID, noon(2 * time.Hour)
		}, explain.Planned, "AFTER_PAUSE", "still to come, once the pause has ended", nil},
		{"the group is paused", func(d *servicetest.Desk) (string, time.Time) {
			d.Grouped(0)
			job := d.TenSeconds("j", "g")
			d.Hold("g", true)
			d.After(10 * time.Second)
			return job.ID, time.Time{}
		}, explain.NotPlanned, "GROUP_PAUSED", "the group g is paused since 2026-11-20 12:00:00Z", nil},
		{"every job is paused", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			d.Hold(entity.AllJobs, true)
			d.After(10 * time.Second)
			return job.ID, noon(10 * time.Second)
		}, explain.NotPlanned, "ALL_PAUSED", "every job is paused since", nil},
		{"the job is not enabled", func(d *servicetest.Desk) (string, time.Time) {
			job, err := d.Jobs.Create(d.T.Context(), every(nil), false)
			require.NoError(d.T, err)
			d.After(time.Minute)
			return job.ID, noon(10 * time.Second)
		}, explain.NotPlanned, "DISABLED", "the job is not enabled", nil},
		{"before the schedule begins", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(cron(midnight, func(j *entity.Job) { j.Schedule.StartTime = at("2027-01-01T00:00:00Z") }))
			return job.ID, at("2026-12-01T00:00:00+01:00")
		}, explain.NotPlanned, "BEFORE_START", "its schedule begins at 2027-01-01 01:00:00+01:00 (startTime)", nil},
		{"after the schedule ended", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(cron(midnight, func(j *entity.Job) { j.Schedule.EndTime = at("2026-12-01T00:00:00Z") }))
			return job.ID, at("2026-12-02T00:00:00+01:00")
		}, explain.NotPlanned, "AFTER_END", "its schedule ended at 2026-12-01 01:00:00+01:00 (endTime)", nil},
		{
			"its one fire has been", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(enginetest.Job("once", func(j *entity.Job) {
					j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(10 * time.Second), TimeZone: "UTC"}
				}))
				d.After(10 * time.Second)
				return job.ID, noon(time.Hour)
			}, explain.NotPlanned, "ONCE_OVER", "its schedule has one fire, of 2026-11-20 12:00:10Z",
			nil,
		},
		{
			"the schedule does not name it", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(cron("0 0 3 ? * MON", nil))
				d.Clock.Advance(24 * time.Hour)
				return job.ID, at("2026-11-21T03:00:00+01:00")
			}, explain.NotPlanned, "NOT_IN_SCHEDULE", "does not name that time",
			[]string{"the next time that it names is 2026-11-23 03:00:00+01:00"},
		},
		{
			"a time that the clocks leave out", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(cron("0 30 2 * * ?", func(j *entity.Job) { j.Schedule.DstGap = cronexpr.Skip }))
				return job.ID, at("2027-03-28T03:30:00+02:00") // as programs read 02:30 of that day
			}, explain.NotPlanned, "DST_GAP",
			"the clocks of Europe/Berlin jump by 1h0m0s to 2027-03-28 03:00:00+02:00 on that day, " +
				"and the schedule leaves out times that do not exist", nil,
		},
		{"a time that the clocks move", func(d *servicetest.Desk) (string, time.Time) {
			return d.Create(cron("0 30 2 * * ?", nil)).ID, at("2027-03-28T03:30:00+02:00")
		}, explain.NotPlanned, "DST_GAP_MOVED", "the fire of a time that does not exist is of that moment", nil},
		{"the second of two equal times", func(d *servicetest.Desk) (string, time.Time) {
			return d.Create(cron("0 30 2 * * ?", nil)).ID, at("2027-10-31T02:30:00+01:00")
		}, explain.NotPlanned, "DST_OVERLAP", "fires at the first of two equal times alone", nil},
		{"before there was the job", func(d *servicetest.Desk) (string, time.Time) {
			return d.Create(cron(midnight, nil)).ID, at("2026-11-01T00:00:00+01:00")
		}, explain.NotPlanned, "NOT_CREATED", "the job was made at 2026-11-20 13:00:00+01:00", nil},
		{"there is no schedule", func(d *servicetest.Desk) (string, time.Time) {
			return d.Create(enginetest.Job("hand", nil)).ID, time.Time{}
		}, explain.NotPlanned, "NO_SCHEDULE", "the job has no schedule: it runs when it is triggered", nil},
		{"no schedule, and its run waits", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(enginetest.Job("hand", servicetest.Waiting(nil)))
			d.Trigger(job.ID)
			return job.ID, time.Time{}
		}, explain.Waiting, "NODE", "no node that is up carries the labels", []string{
			"LATEST_RUN_WAITS", "the label node=nobody",
		}},
		{"the run before decides", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(func(j *entity.Job) { j.Schedule.Kind = schedule.FixedDelay }))
			return job.ID, noon(time.Hour)
		}, explain.NotPlanned, "AFTER_RUN", "when the run before it has ended", nil},
		{"the job is deleted", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			require.NoError(d.T, d.Jobs.Delete(d.T.Context(), job.ID, 0))
			return job.ID, noon(10 * time.Second)
		}, explain.NotPlanned, "DELETED", "the job was deleted", nil},
		{
			"another schedule held then", func(d *servicetest.Desk) (string, time.Time) {
				job := d.Create(cron("0 0 3 ? * MON", nil))
				d.Clock.Advance(24 * time.Hour)
				d.Replace(job.ID, func(j *entity.Job) { j.Schedule.CronExpression = "0 0 * * * ?" })
				return job.ID, at("2026-11-20T18:00:00+01:00")
			}, explain.NotPlanned, "NOT_IN_SCHEDULE", "does not name that time",
			[]string{"version 1 of the job held then; now it is version 2"},
		},
		{"nothing is kept of that time", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			d.Change(d.T, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = noon(2000*time.Hour), noon(2000*time.Hour) })
			d.Clock.Advance(1000 * time.Hour)
			return job.ID, noon(10 * time.Second)
		}, explain.Unknown, "TOO_OLD", "runs are kept for 30 days", nil},
		{"nothing is recorded although it should", func(d *servicetest.Desk) (string, time.Time) {
			job := d.Create(every(nil))
			d.Change(d.T, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = noon(time.Hour), noon(time.Hour) })
			d.Clock.Advance(time.Minute)
			return job.ID, noon(10 * time.Second)
		}, explain.Unknown, "NO_RECORD", "nothing is recorded for it", nil},
	}
}

// saysWhole checks that a sentence is one of the listed ones, and that its parameters have all that it names.
func saysWhole(t *testing.T, v explain.Verdict, code explain.Code, p explain.Params, text string) {
	t.Helper()
	require.NotEmpty(t, text, "%s %s has no sentence", v, code)
	if v != "" {
		require.Contains(t, explain.Codes(), code)
	} else {
		require.Contains(t, explain.FactCodes(), code)
	}
	var named []string
	for _, s := range explain.Sentences() {
		if s.Verdict != v || s.Code != code && !(s.Code == "" && v != "") {
			continue
		}
		must := optional.ReplaceAllString(s.Text, "")
		missing := false
		for _, m := range parameter.FindAllStringSubmatch(must, -1) {
			_, known := p[m[1]]
			missing = missing || !known
		}
		if !missing {
			named = append(named, s.Text)
		}
	}
	require.NotEmpty(t, named, "the parameters %v of %s %s do not suffice for its sentence", p, v, code)
	for name, value := range p {
		switch value.(type) {
		case time.Duration:
			require.True(t, strings.HasSuffix(name, "Ms"), name)
		}
	}
}

var (
	optional  = regexp.MustCompile(`\[[^\]]*\]`)
	parameter = regexp.MustCompile(`\{(\w+)\}`)
)

// A user who may not see runs or alerts is told nothing of them.
func TestWhoMaySeeNoRunsIsToldNothingOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := servicetest.New(t)
		d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "canary-1")))
		job := d.Create(every(nil))
		d.Node.Start(t)
		d.After(10 * time.Second)
		d.AwaitStatus(t, d.Rows(job.ID)[0].ID, entity.StatusFailed)
		a, err := explainer(d, nil).Explain(t.Context(), explain.Query{JobID: job.ID})
		require.NoError(t, err)
		require.Equal(t, explain.Fired, a.Verdict)
		for _, f := range a.Facts {
			require.Empty(t, f.ID, f.Text)
		}
	})
}

// The zone of the question is that of all times in the answer.
func TestTimesAreInTheZoneOfTheQuestion(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(cron("0 0 0 * * ?", nil))
	zone, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	a, err := explainer(d, nil).Explain(t.Context(), explain.Query{
		JobID: job.ID, At: at("2026-11-20T23:00:00Z"),
		Zone: zone,
	})
	require.NoError(t, err)
	require.Contains(t, a.Text, "2026-11-21 08:00:00+09:00")
}

// silent is a registry that does not answer.
type silent struct{ err error }

func (s silent) All(context.Context) ([]entity.Node, error) { return nil, s.err }

// A store that says nothing is an error, and no answer.
func TestAStoreThatSaysNothingIsNoAnswer(t *testing.T) {
	d := servicetest.New(t)
	_, err := explainer(d, nil).Explain(t.Context(), explain.Query{JobID: "nobody"})
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	job := d.Create(servicetest.EveryTenSeconds(nil))
	d.After(10 * time.Second)
	away := errors.New("the store is away")
	_, err = explainer(d, func(p *explain.ExplainService) { p.Nodes = silent{away} }).Explain(t.Context(),
		explain.Query{JobID: job.ID, At: noon(10 * time.Second), SeesRuns: true})
	require.ErrorIs(t, err, away)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = explainer(d, nil).Explain(stopped, explain.Query{JobID: job.ID})
	require.Error(t, err)
}
