package custom_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

func newRegistry() *custom.Registry { return custom.New(clock.NewSystem()) }

func handlerRun(class, data string) entity.Run {
	return executortest.NewRun(entity.JobCustom, class, data)
}

func doNothing(context.Context, *sdk.Run) error { return nil }

func TestRegisterRefusesWhatIsNoClass(t *testing.T) {
	registry := newRegistry()
	require.NoError(t, registry.Register("settle orders", sdk.HandlerFunc(doNothing)))
	require.NoError(t, registry.Register(strings.Repeat("é", 255), sdk.HandlerFunc(doNothing)))
	for _, class := range []string{"", " ", " a", "a\n", "a\x00b", "\xff", strings.Repeat("a", 256)} {
		require.Error(t, registry.Register(class, sdk.HandlerFunc(doNothing)), "%.20q", class)
	}
	require.Error(t, registry.Register("none", nil))
	require.ErrorIs(t, registry.Register("settle orders", sdk.HandlerFunc(doNothing)), custom.ErrDuplicate)
	require.ErrorIs(t, registry.Register("noop", sdk.HandlerFunc(doNothing)), custom.ErrDuplicate)
	require.Equal(t, []string{"echo", "fail", "log", "noop", "settle orders", "sleep", strings.Repeat("é", 255)},
		registry.Classes())
}

// A class without a handler here is right: another node may have it. Should a run
// of it come here all the same, its end names what there is.
func TestAClassOfAnotherNodeIsRight(t *testing.T) {
	registry := newRegistry()
	check := func(class, data string) []apperror.Field {
		return registry.Check(&entity.Job{Class: class, Data: data})
	}
	require.Empty(t, check("noop", "{}"))
	require.Empty(t, check(" ", "{}"), "the domain reports a missing class")
	require.Empty(t, check("nope", `{"day":"${scheduledTime:yyyy}"}`))
	require.NotEmpty(t, check("nope", `{"day":"${nothing}"}`), "placeholders are the same everywhere")
	run := func(class string) entity.Outcome {
		return registry.Run(t.Context(), executortest.NewRun(entity.JobCustom, class, "{}"), &executortest.Recorder{})
	}
	require.Equal(t, entity.Failed(entity.ReasonInvalid,
		`no handler is registered as "nope" on this server; there are echo, fail, log, noop, sleep`), run("nope"))
	require.Equal(t, entity.BuiltInHandlers(), registry.Classes(), "the domain knows them")
	require.Empty(t, registry.Own())
	for i := range 40 {
		require.NoError(t, registry.Register(fmt.Sprintf("h%02d", i), sdk.HandlerFunc(doNothing)))
	}
	require.Len(t, registry.Own(), 40)
	require.True(t, slices.IsSorted(registry.Own()))
	message := run(strings.Repeat("x", 255)).Message
	require.Contains(t, message, "and 25 more")
	require.Less(t, len(message), 400)
}

func TestCheckLeavesTheDataOfForeignHandlersAlone(t *testing.T) {
	registry := newRegistry()
	require.NoError(t, registry.Register("mine", sdk.HandlerFunc(doNothing)))
	require.Empty(t, registry.Check(&entity.Job{Class: "mine", Data: `{"anything":[1]}`}))
}

func TestRunTellsTheHandlerWhatItRuns(t *testing.T) {
	registry := newRegistry()
	var seen *sdk.Run
	require.NoError(t, registry.Register("look", sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		seen = run
		run.Log("a line")
		run.Logger().Warn("careful", "n", 1)
		run.Progress(40)
		run.Checkpoint("row 9")
		run.SetResult("42 rows")
		return nil
	})))
	run := handlerRun("look", `{"table":"t"}`)
	run.Execution.ShardIndex, run.Execution.ShardTotal, run.Execution.Attempt = 2, 3, 4
	run.Execution.Token, run.Execution.JobFence, run.Execution.RootID = 5, 6, "root"
	run.Execution.Params, run.Execution.Checkpoint = `{"limit":1}`, "row 7"
	run.Deadline = run.Execution.ScheduledTime.Add(time.Minute)
	rep := &executortest.Recorder{}

	require.Equal(t, entity.Succeeded("42 rows"), registry.Run(t.Context(), run, rep))
	require.Equal(t, "execution-1", seen.ExecutionID())
	require.Equal(t, "job-1", seen.JobID())
	require.Equal(t, "settle orders", seen.JobName())
	require.Equal(t, run.Execution.ScheduledTime, seen.ScheduledTime())
	require.Equal(t, 2, seen.ShardIndex())
	require.Equal(t, 3, seen.ShardTotal())
	require.Equal(t, 4, seen.Attempt())
	require.Equal(t, int64(6<<16|5), seen.FencingToken())
	require.Equal(t, "root", seen.IdempotencyKey())
	require.JSONEq(t, `{"limit":1}`, string(seen.Params()))
	require.JSONEq(t, `{"table":"t"}`, string(seen.JobData()))
	require.Equal(t, "row 9", seen.LastCheckpoint())
	deadline, _ := seen.Deadline()
	require.Equal(t, run.Deadline, deadline)
	require.Equal(t, run.Execution.TraceParent(), seen.TraceParent())
	require.Equal(t, []executortest.Line{
		{Type: entity.LogStdout, Text: "a line"}, {Type: entity.LogStdout, Text: "level=WARN msg=careful n=1"},
	}, rep.Lines())
	progress, checkpoint := rep.Last()
	require.Equal(t, 40, progress)
	require.Equal(t, "row 9", checkpoint)
}

func TestRunGivesTheFormerCheckpoint(t *testing.T) {
	registry := newRegistry()
	require.NoError(t, registry.Register("resume", sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		run.SetResult(run.LastCheckpoint())
		return nil
	})))
	run := handlerRun("resume", "")
	run.Execution.Checkpoint = "row 7"
	require.Equal(t, "row 7", registry.Run(t.Context(), run, &executortest.Recorder{}).Result)
}

func TestRunMapsTypedErrors(t *testing.T) {
	cases := []struct {
		name string
		err  error
		want entity.Outcome
	}{
		{"plain", errors.New("refused"), entity.Outcome{Message: "refused"}},
		{
			"fatal", fmt.Errorf("load: %w", sdk.Fatal(errors.New("closed"))),
			entity.Outcome{Message: "load: closed", NoRetry: true},
		},
		{"later", sdk.RetryAfter(time.Minute, errors.New("busy")), entity.Outcome{Message: "busy", RetryAfter: time.Minute}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			registry := newRegistry()
			require.NoError(t, registry.Register("h", sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
				run.SetResult("partial")
				return c.err
			})))
			c.want.Status, c.want.Reason, c.want.Result = entity.StatusFailed, entity.ReasonError, "partial"
			require.Equal(t, c.want, registry.Run(t.Context(), handlerRun("h", ""), &executortest.Recorder{}))
		})
	}
}

func TestRunRefusesWhatTheEdgeWouldRefuse(t *testing.T) {
	registry := newRegistry()
	outcome := registry.Run(t.Context(), handlerRun("gone", ""), &executortest.Recorder{})
	require.Equal(t, entity.ReasonInvalid, outcome.Reason)
	require.Contains(t, outcome.Message, `no handler is registered as "gone"`)

	outcome = registry.Run(t.Context(), handlerRun("sleep", `{"ms":"1"}`), &executortest.Recorder{})
	require.Equal(t, entity.ReasonInvalid, outcome.Reason)
	require.Contains(t, outcome.Message, "jobData.ms: must be a whole number, not a string")
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	registry := newRegistry()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			class := fmt.Sprintf("h%d", i)
			if registry.Register(class, sdk.HandlerFunc(doNothing)) == nil {
				registry.Run(t.Context(), handlerRun(class, ""), &executortest.Recorder{})
			}
			registry.Check(&entity.Job{Class: "x"})
		})
	}
	wg.Wait()
	require.Len(t, registry.Classes(), 13)
}

func BenchmarkRunNoop(b *testing.B) {
	registry, run, rep := newRegistry(), handlerRun("noop", "{}"), &executortest.Recorder{}
	b.ReportAllocs()
	for b.Loop() {
		registry.Run(b.Context(), run, rep)
	}
}

func BenchmarkRunRegisteredHandler(b *testing.B) {
	registry, run, rep := newRegistry(), handlerRun("mine", `{"a":1}`), &executortest.Recorder{}
	require.NoError(b, registry.Register("mine", sdk.HandlerFunc(doNothing)))
	b.ReportAllocs()
	for b.Loop() {
		registry.Run(b.Context(), run, rep)
	}
}

func TestPlaceholdersInJobDataBecomeTheValuesOfTheRun(t *testing.T) {
	registry := newRegistry()
	var got string
	require.NoError(t, registry.Register("import", sdk.HandlerFunc(func(_ context.Context, r *sdk.Run) error {
		got = string(r.JobData())
		return nil
	})))
	run := handlerRun("import", `{"from":["${scheduledTime:yyyyMMdd}"],"key":"${secret.K}","n":1}`)
	require.Empty(t, registry.Check(run.Job))
	run.Secrets = map[string]string{"K": "v"}
	require.Equal(t, entity.StatusSuccess, registry.Run(t.Context(), run, &executortest.Recorder{}).Status)
	require.JSONEq(t, `{"from":["20260301"],"key":"v","n":1}`, got)

	run.Secrets = nil
	outcome := registry.Run(t.Context(), run, &executortest.Recorder{})
	require.Equal(t, entity.ReasonSecretMissing, outcome.Reason)
	require.Contains(t, outcome.Message, "jobData.key: there is no secret named K")
	faults := registry.Check(handlerRun("import", `{"from":"${PATH}"}`).Job)
	require.Len(t, faults, 1)
	require.Equal(t, "jobData.from", faults[0].Field)
}
