package explain_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// requireFacts wants the facts of an answer to hold some texts, and others not.
func requireFacts(t *testing.T, facts string, says, not []string) {
	t.Helper()
	for _, text := range says {
		require.Contains(t, facts, text)
	}
	for _, text := range not {
		require.NotContains(t, facts, text)
	}
}

// asked is the answer to a question, with its facts as lines.
func asked(t *testing.T, d *servicetest.Desk, q explain.Query) (a *explain.Answer, facts string) {
	t.Helper()
	q.SeesRuns = true
	a, err := explainer(d, nil).Explain(t.Context(), q)
	require.NoError(t, err)
	saysWhole(t, a.Verdict, a.Code, a.Params, a.Text)
	var all strings.Builder
	for _, f := range a.Facts {
		saysWhole(t, "", f.Code, f.Params, f.Text)
		all.WriteString(string(f.Code) + " " + f.ID + ": " + f.Text + "\n")
	}
	return a, all.String()
}

func wall(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// The changes are those of the tz database: Berlin 2027-03-28 02:00 to 03:00, New York 2027-03-14 02:00 to 03:00, Lord
// Howe 2027-10-03 02:00 to 02:30, Havana 2027-03-14 00:00 to 01:00; Berlin 2027-10-31 03:00 back to 02:00.
func TestATimeOfTheClockThatDoesNotExist(t *testing.T) {
	in := func(zone, expression string, gap cronexpr.Gap) *entity.Job {
		return enginetest.Job("cron", func(j *entity.Job) {
			j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: expression, TimeZone: zone, DstGap: gap}
		})
	}
	for _, c := range []struct {
		name, zone, expression string
		gap                    cronexpr.Gap
		wall                   string
		says                   string
		facts                  []string
	}{
		{
			"moved", "Europe/Berlin", "0 30 2 * * ?", cronexpr.NextValid, "2027-03-28T02:30",
			"2027-03-28 02:30:00 does not exist in Europe/Berlin: its clocks jump by 1h0m0s to 2027-03-28 03:00:00+02:00",
			[]string{"GAP_MOVED : the schedule names a time that does not exist then, whose fire is of 2027-03-28 " +
				"03:00:00+02:00"},
		},
		{
			"left out", "Europe/Berlin", "0 30 2 * * ?", cronexpr.Skip, "2027-03-28T02:30", "02:30:00 does not exist",
			[]string{"GAP_LEFT_OUT", "the next time that it names is 2027-03-29 02:30:00+02:00"},
		},
		{
			"west of Greenwich", "America/New_York", "0 30 2 * * ?", cronexpr.NextValid, "2027-03-14T02:30",
			"2027-03-14 02:30:00 does not exist in America/New_York: its clocks jump by 1h0m0s to 2027-03-14 03:00:00-04:00",
			[]string{"GAP_MOVED"},
		},
		{
			"half an hour", "Australia/Lord_Howe", "0 15 2 * * ?", cronexpr.NextValid, "2027-10-03T02:15",
			"clocks jump by 30m0s to 2027-10-03 02:30:00+11:00",
			[]string{"GAP_MOVED"},
		},
		{
			"at midnight", "America/Havana", "0 0 0 * * ?", cronexpr.NextValid, "2027-03-14T00:00",
			"2027-03-14 00:00:00 does not exist in America/Havana: its clocks jump by 1h0m0s to 2027-03-14 01:00:00-04:00",
			[]string{"GAP_MOVED"},
		},
		{
			"not named", "Europe/Berlin", "0 0 12 * * ?", cronexpr.NextValid, "2027-03-28T02:30", "02:30:00 does not exist",
			[]string{"the next time that it names is 2027-03-28 12:00:00+02:00"},
		},
		{
			"each hour", "Europe/Berlin", "0 30 * * * ?", cronexpr.NextValid, "2027-03-28T02:30", "02:30:00 does not exist",
			[]string{"GAP_RUNS_ON", "the next time that it names is 2027-03-28 03:30:00+02:00"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(in(c.zone, c.expression, c.gap))
			a, facts := asked(t, d, explain.Query{JobID: job.ID, Wall: wall(c.wall)})
			require.Equal(t, "NOT_PLANNED NO_SUCH_TIME", string(a.Verdict)+" "+string(a.Code))
			require.Contains(t, a.Text, c.says)
			for _, want := range c.facts {
				require.Contains(t, facts, want)
			}
		})
	}
}

// The fire that runs instead is told with its outcome, once it has been.
func TestTheFireInsteadOfATimeThatDoesNotExistIsTold(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 30 2 * * ?", TimeZone: "Europe/Berlin"}
	}))
	change := at("2027-03-28T03:00:00+02:00")
	d.Change(t, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = change, change })
	d.After(change.Sub(d.Clock.Now()))
	a, facts := asked(t, d, explain.Query{JobID: job.ID, Wall: wall("2027-03-28T02:30")})
	require.Equal(t, explain.NoSuchTime, a.Code)
	require.Contains(t, facts, "FIRE_THEN : the fire of 2027-03-28 03:00:00+02:00: WAITING")
	require.NotNil(t, a.Fire)
}

// Other times of the clock are the moments that they name; of two equal ones the earlier.
func TestATimeOfTheClockIsReadInItsZone(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(cron("0 30 2 * * ?", nil))
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	for _, c := range []struct {
		wall string
		zone *time.Location
		want string
	}{
		{"2027-03-28T01:59", nil, "2027-03-28T00:59:00Z"},
		{"2027-03-28T03:00", nil, "2027-03-28T01:00:00Z"},
		{"2027-10-31T02:30", nil, "2027-10-31T00:30:00Z"},
		{"2027-10-31T03:00", nil, "2027-10-31T02:00:00Z"},
		{"2027-07-01T12:00", nil, "2027-07-01T10:00:00Z"},
		{"2027-07-01T12:00", tokyo, "2027-07-01T03:00:00Z"},
	} {
		a, _ := asked(t, d, explain.Query{JobID: job.ID, Wall: wall(c.wall), Zone: c.zone})
		require.Equal(t, c.want, a.Time.UTC().Format(time.RFC3339), c.wall)
	}
}

// begunAgain makes the run of a fire one whose first attempt was lost with node-9, and whose second one runs, or is
// over.
func begunAgain(d *servicetest.Desk, id string, first, second time.Time, status entity.Status) {
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		r := rows[0]
		from, token := r.Status, r.Token
		r.Status, r.NodeID, r.Attempt, r.NodeLosses, r.StartTime, r.Claim = status, "node-1", 2, 1, second, ""
		if status.Final() {
			r.EndTime = second.Add(time.Second)
		}
		if err := tx.Executions.Update(ctx, r, from, token); err != nil {
			return err
		}
		return tx.Records.AddAttempts(ctx, []entity.Attempt{{
			ExecutionID: id, Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonNodeLost, NodeID: "node-9",
			StartTime: first, EndTime: second,
		}})
	})
}

func TestARunThatBeganAgainIsAsLateAsItsFirstStart(t *testing.T) {
	for status, verdict := range map[entity.Status]explain.Verdict{
		entity.StatusRunning: explain.Running, entity.StatusSuccess: explain.Fired,
	} {
		t.Run(string(status), func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(servicetest.EveryTenSeconds(nil))
			d.After(10 * time.Second)
			begunAgain(d, d.Rows(job.ID)[0].ID, noon(10*time.Second+20*time.Millisecond), noon(50*time.Second), status)
			a, facts := asked(t, d, explain.Query{JobID: job.ID, At: noon(10 * time.Second)})
			require.Equal(t, verdict, a.Verdict)
			require.Contains(t, a.Text, ", 20ms late")
			require.Equal(t, int64(20), a.Fire.LatenessMs)
			require.Contains(t, facts, "NODE_WAS_LOST node-9: node node-9 was lost while it ran attempt 1\n")
			require.NotContains(t, facts, "LATE")
			require.NotContains(t, facts, "a node that ran it")
		})
	}
}

// A fire that nobody recorded at its time was due while the server was down; one that was recorded waited.
func TestALateRunSaysWhetherTheServerWasDown(t *testing.T) {
	started := func(d *servicetest.Desk, id string, at time.Time) {
		d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
			rows, err := tx.Executions.Lock(ctx, []string{id})
			if err != nil {
				return err
			}
			r := rows[0]
			from, token := r.Status, r.Token
			r.Status, r.NodeID, r.Attempt, r.StartTime, r.EndTime, r.Claim = entity.StatusSuccess, "node-1", 1, at, at, ""
			return tx.Executions.Update(ctx, r, from, token)
		})
	}
	for _, c := range []struct {
		name        string
		down, waits time.Duration
		says, not   []string
	}{
		{"on time", 0, 20 * time.Millisecond, nil, []string{"SERVER_WAS_DOWN", "LATE"}},
		{
			"down", 30 * time.Second, 0,
			[]string{"it was due while the server was down", "it was fired 30s later, at 2026-11-20 12:00:40Z"},
			[]string{"it waited for a slot"},
		},
		{"waited", 0, 30 * time.Second, []string{"it began 30s after it was due: it waited for a slot"}, []string{"the " +
			"server was down"}},
		{"both", 30 * time.Second, 5 * time.Second, []string{"the server was down", "it began 35s after it was due"}, nil},
		{"too long", 3 * time.Minute, 0, []string{"MISFIRE_RAN", "the server was down"}, []string{"it waited for a slot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(10 * time.Second), TimeZone: "UTC"}
			}))
			d.After(10*time.Second + c.down)
			started(d, d.Rows(job.ID)[0].ID, noon(10*time.Second+c.down+c.waits))
			_, facts := asked(t, d, explain.Query{JobID: job.ID, At: noon(10 * time.Second)})
			requireFacts(t, facts, c.says, c.not)
		})
	}
}

func TestAJitterShowsWithTheRealStart(t *testing.T) {
	d := servicetest.New(t)
	// The jitter of a job comes of its id: let it be one that tells a minute from the next.
	var job *entity.Job
	for n := 0; n < 50 && (job == nil || job.DueTime.Sub(job.NextFireTime) < 2*time.Minute); n++ {
		job = d.Create(servicetest.EveryTenSeconds(func(j *entity.Job) {
			j.Name = "jitter " + strconv.Itoa(n)
			j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "UTC", JitterMs: 600_000}
		}))
	}
	start := job.DueTime.Format("2006-01-02 15:04:05.000Z07:00")
	a, facts := asked(t, d, explain.Query{JobID: job.ID, At: job.NextFireTime})
	require.Equal(t, explain.Planned, a.Verdict)
	require.Equal(t, job.DueTime.Sub(d.Time.Now()), a.Params["inMs"])
	require.Contains(t, facts, "to "+start)
	a, _ = asked(t, d, explain.Query{JobID: job.ID, At: job.DueTime.Truncate(time.Minute)})
	require.Equal(t, job.NextFireTime, a.Fire.ScheduledTime, "whoever asks for the start means the fire")
	d.After(job.DueTime.Sub(d.Time.Now()))
	after := d.Job(job.ID)
	_, facts = asked(t, d, explain.Query{JobID: job.ID, At: job.NextFireTime})
	require.Contains(t, facts, ", and starts at "+after.DueTime.Format("2006-01-02 15:04:05.000Z07:00"))
}

func TestARangeIsSaidAsItIs(t *testing.T) {
	d := servicetest.New(t)
	job := d.Create(every(nil))
	pause := func(pass time.Duration) {
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{User: "ann"})
		require.NoError(t, err)
		d.Clock.Advance(pass)
		_, err = d.Jobs.Resume(t.Context(), job.ID)
		require.NoError(t, err)
	}
	pause(15 * time.Second)
	a, _ := asked(t, d, explain.Query{JobID: job.ID, At: noon(10 * time.Second)})
	require.Equal(
		t,
		"the fire of 2026-11-20 12:00:10Z was not run, PAUSED: the job, its group or every job was paused",
		a.Text,
	)
	pause(30 * time.Second)
	a, _ = asked(t, d, explain.Query{JobID: job.ID, At: noon(30 * time.Second)})
	require.Contains(
		t,
		a.Text,
		"the 3 fires from 2026-11-20 12:00:20Z to before 2026-11-20 12:00:40.001Z were not run, PAUSED",
	)
}

func TestAPauseCountsWhatItHasCostSoFar(t *testing.T) {
	for _, c := range []struct {
		name string
		pass time.Duration
		says string
	}{
		{"nothing", 5 * time.Second, ""},
		{"one", 10 * time.Second, "; it would have fired 1 time so far"},
		{"three", 39 * time.Second, "; it would have fired 3 times so far"},
		{"very many", 30 * time.Hour, "; it would have fired 1000 or more times so far"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(every(nil))
			_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{User: "ann"})
			require.NoError(t, err)
			d.Clock.Advance(c.pass)
			a, facts := asked(t, d, explain.Query{JobID: job.ID})
			require.Contains(t, facts+a.Text, "paused by ann since 2026-11-20 12:00:00Z"+c.says)
			require.Equal(t, c.says != "", strings.Contains(facts+a.Text, "so far"))
			a, _ = asked(t, d, explain.Query{JobID: job.ID, At: noon(10 * time.Second)})
			require.Equal(t, explain.JobPaused, a.Code)
			require.Equal(
				t,
				c.says != "",
				strings.Contains(a.Text, c.says+"x") || c.says != "" && strings.HasSuffix(a.Text, c.says),
			)
		})
	}
	d := servicetest.New(t)
	job := d.Create(every(nil))
	d.Hold(job.Group, true)
	d.Clock.Advance(30 * time.Second)
	_, facts := asked(t, d, explain.Query{JobID: job.ID, At: noon(10 * time.Second)})
	a, more := asked(t, d, explain.Query{JobID: job.ID})
	require.Contains(t, facts+more+a.Text, "it would have fired 3 times so far")
}

func TestTheFieldThatSaysNoIsTold(t *testing.T) {
	for _, c := range []struct{ expression, at, says string }{
		{"0 0 3 ? * MON-WED", "2026-11-26T03:00:00+01:00", "day-of-week says no: Thursday; it names Monday to Wednesday"},
		{"0 0 3 ? 1-6,9 *", "2026-11-26T03:00:00+01:00", "month says no: November; it names January to June, September"},
		{"0 0 9-17 * * ?", "2026-11-26T18:00:00+01:00", "hour says no: 18; it names 9 to 17"},
		{"0 0/15 * * * ?", "2026-11-26T18:20:00+01:00", "minute says no: 20; it names 0, 15, 30, 45"},
		{"0 0 3 * * ? 2027,2029-2031", "2026-11-26T03:00:00+01:00", "year says no: 2026; it names 2027, 2029 to 2031"},
		{"0 0 3 L * ?", "2026-11-26T03:00:00+01:00", "day-of-month says no: 26\n"},
		{"0 0 3 ? * MON", "2026-11-29T23:30:00Z", "hour says no: 0; it names 3"}, // Monday in Berlin
	} {
		d := servicetest.New(t)
		job := d.Create(cron(c.expression, nil))
		d.Change(t, job.ID, func(j *entity.Job) { j.CreateTime = noon(-time.Hour) })
		a, facts := asked(t, d, explain.Query{JobID: job.ID, At: at(c.at)})
		require.Equal(t, explain.NotInSchedule, a.Code, c.expression)
		require.Contains(t, facts, "CRON_FIELD : "+c.says, c.expression)
	}
}
