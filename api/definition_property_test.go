package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/resttest"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// words are texts that a name, a label or a datum may be, odd ones too.
func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"yes", "null", "~", "1e3", "0x1F", "1:30", "<<", "=", "2026-01-01", "a: b", "# x", "- x",
			"{x}", "*x", "&x", "!x", "'", `"`, "订单 😀", "x ", "%", "@", "|", "true", "010", "${secret.pw}",
		}),
		rapid.StringMatching(`[a-zA-Z0-9 :#,{}&*!|>'"%@._-]{0,10}[a-z]`),
	)
}

// anyJob is a definition that is good now, in any state.
func anyJob() *rapid.Generator[*entity.Job] {
	return rapid.Custom(func(t *rapid.T) *entity.Job {
		j := validation.NewJob("UTC")
		j.Name, j.Type, j.Class = words().Draw(t, "name"), entity.JobCustom, resttest.Handler
		j.Group = rapid.SampledFrom([]string{"default", "pay", "支付"}).Draw(t, "group")
		j.Description = rapid.SampledFrom([]string{"", "one\n two\n", "\ttab \n", "line\nline", " x\r\n"}).
			Draw(t, "description")
		j.Labels = rapid.MapOfN(words(), words(), 0, 3).Draw(t, "labels")
		data, err := json.Marshal(rapid.MapOfN(words(), rapid.OneOf(words().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
			rapid.Bool().AsAny(), rapid.SliceOfN(words(), 0, 2).AsAny()), 0, 3).Draw(t, "data"))
		require.NoError(t, err)
		j.Data = string(data)
		j.Schedule.TimeZone = rapid.SampledFrom([]string{"UTC", "Asia/Shanghai"}).Draw(t, "zone")
		switch j.Schedule.Kind = rapid.SampledFrom([]schedule.Kind{
			schedule.None, schedule.Cron, schedule.FixedRate,
			schedule.Once,
		}).Draw(t, "kind"); j.Schedule.Kind {
		case schedule.Cron:
			j.Schedule.CronExpression = "0 0/5 * * * ?"
			j.Schedule.DstGap = "SKIP"
		case schedule.FixedRate:
			j.Schedule.IntervalMs = rapid.Int64Range(100, 1e9).Draw(t, "interval")
			j.Schedule.StartTime = now.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "start")) * time.Millisecond)
		case schedule.Once: // it may have passed
			j.Schedule.At = now.Add(time.Duration(rapid.IntRange(-1e6, 1e6).Draw(t, "at")) * time.Millisecond)
		}
		j.Priority = rapid.IntRange(1, 10).Draw(t, "priority")
		j.Retry.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		j.Retry.NoRetryOn = rapid.SliceOfNDistinct(rapid.SampledFrom([]entity.Reason{
			entity.ReasonExitCode,
			entity.ReasonPanic,
		}), 0, 2, rapid.ID).Draw(t, "noRetryOn")
		j.Overlap = rapid.SampledFrom([]entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapReplace}).
			Draw(t, "overlap")
		j.Routing.Labels = rapid.MapOfN(words(), words(), 0, 1).Draw(t, "routing")
		j.Parameters = anyParameters().Draw(t, "parameters")
		j.Status = rapid.SampledFrom([]entity.JobStatus{
			entity.JobCreated, entity.JobEnabled, entity.JobPaused,
			entity.JobFinished,
		}).Draw(t, "status")
		j.PausedBy = rapid.SampledFrom([]entity.PauseCause{entity.PausedByUser, entity.PausedByGroup}).Draw(t, "by")
		if len(j.Labels) == 0 {
			j.Labels = nil // as the store has it
		}
		j.Version, j.LastFireTime, j.NextFireTime = rapid.IntRange(1, 9).Draw(t, "version"), now, now
		j.Schedule.Anchor = now
		return j
	})
}

// anyParameters are those of a job, as the store has them.
func anyParameters() *rapid.Generator[[]entity.JobParameter] {
	return rapid.SampledFrom([][]entity.JobParameter{
		nil,
		{{Name: "day", Type: entity.ParameterString}},
		{{Name: "day", Type: entity.ParameterString, Default: json.RawMessage(`"x"`), Description: "d"}},
		{
			{Name: "n", Type: entity.ParameterInteger},
			{Name: "region", Type: entity.ParameterEnum, Values: []string{"eu", "us"}, Default: json.RawMessage(`"eu"`)},
		},
	})
}

// emptyValues are the parameters with an empty list where one has no values, as exports write it.
func emptyValues(all []entity.JobParameter) []entity.JobParameter {
	out := slices.Clone(all)
	for i := range out {
		if out[i].Values == nil {
			out[i].Values = []string{}
		}
	}
	return out
}

// only makes these the only jobs of the store.
func (e *edge) only(jobs ...*entity.Job) {
	e.t.Helper()
	require.NoError(e.t, dbtest.Write(e.t.Context(), e.Store, repository.LaneAPI, "test",
		func(ctx context.Context, tx dbtest.Tx) error {
			if _, err := tx.Exec(ctx, "DELETE FROM scheduler_job_definition"); err != nil {
				return err
			}
			for _, j := range jobs {
				j.ID, j.CreateTime, j.UpdateTime = uuid.Must(uuid.NewV7()).String(), now, now
			}
			return tx.Jobs.Insert(ctx, jobs...)
		}))
}

// Whatever jobs there are: applying their export changes none of them, and
// finds nothing to delete.
func TestAnExportChangesNothing(t *testing.T) {
	e := newEdge(t)
	rapid.Check(t, func(rt *rapid.T) {
		jobs := rapid.SliceOfNDistinct(anyJob(), 0, 5, func(j *entity.Job) string {
			return j.Group + "/" + j.Name
		}).Draw(rt, "jobs")
		e.only(jobs...)
		e.smallPages(rapid.IntRange(1, 5).Draw(rt, "page"))
		format := rapid.SampledFrom([]string{"yaml", "json"}).Draw(rt, "format")
		exported := e.call("GET", "/api/v1/export?format="+format, "").want(200).body
		a := e.send("?prune=true&dryRun=true", exported, "Content-Type", "application/"+format)
		require.Equal(rt, 200, a.status, "%s\n%s", a.body, exported)
		m := a.json()
		require.EqualValues(rt, []any{float64(len(jobs)), 0.0}, []any{m["unchanged"], m["failed"]}, "%v\n%s", m["items"],
			exported)
	})
}

// A job is unchanged exactly when no field differs.
func TestWhatIsUnchangedHasNoChanges(t *testing.T) {
	e := newEdge(t)
	rapid.Check(t, func(rt *rapid.T) {
		old, next := anyJob().Draw(rt, "old"), anyJob().Draw(rt, "next")
		if rapid.Bool().Draw(rt, "alike") {
			*next = *old
			rapid.SampledFrom([]func(){
				func() {}, func() { next.Priority = 11 - next.Priority }, func() { next.Data = " " + next.Data }, func() {
					next.Labels = map[string]string{}
				},
				func() { next.Parameters = emptyValues(next.Parameters) },
				func() { next.Misfire.WindowSec++ }, func() { next.Data = `{"other":1}` }, func() {
					next.Routing.Strategy = entity.RouteLRU
				}, func() { next.Schedule.JitterMs++ },
			}).Draw(rt, "edit")()
		}
		next.Name, next.Group = old.Name, old.Group
		e.only(old)
		enabled := rapid.SampledFrom([]*bool{nil, new(bool), vo.FromEntry(old).Enabled}).Draw(rt, "enabled")
		p, err := e.Definitions.Plan(t.Context(),
			definition.Document{Jobs: []definition.Definition{{Job: next, Enabled: enabled}}}, false)
		require.NoError(rt, err)
		changes := vo.EntryChanges(p.Jobs[0].Before, p.Jobs[0].After)
		require.Equal(rt, p.Jobs[0].Action == definition.ActionUnchanged, len(changes) == 0, "%v", changes)
	})
}
