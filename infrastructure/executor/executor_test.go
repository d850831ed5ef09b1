package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// scripted is an executor that does what a test says.
type scripted struct {
	run   func(ctx context.Context) entity.Outcome
	wrong []apperror.Field
}

// commandsOff says what is missing, and which keys put it right.
const commandsOff = "commands are not enabled on this server; set executor.command.enabled " +
	"(PS_EXECUTOR_COMMAND_ENABLED), and where it runs as root executor.command.user (PS_EXECUTOR_COMMAND_USER)"

func (s scripted) Run(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
	return s.run(ctx)
}

func (s scripted) Check(*entity.Job) []apperror.Field { return s.wrong }

func runScript(ctx context.Context,
	script func(ctx context.Context) entity.Outcome,
) (entity.Outcome, *executortest.Recorder) {
	rep := &executortest.Recorder{}
	d := executor.New(map[entity.JobType]executor.Executor{entity.JobCustom: scripted{run: script}}, nil)
	return d.Run(ctx, executortest.NewRun(entity.JobCustom, "x", ""), rep), rep
}

func TestRunDispatchesByType(t *testing.T) {
	answer := func(text string) scripted {
		return scripted{run: func(context.Context) entity.Outcome { return entity.Succeeded(text) }}
	}
	d := executor.New(map[entity.JobType]executor.Executor{
		entity.JobCustom: answer("custom"), entity.JobHTTP: answer("http"),
	}, nil)
	require.Equal(t, "custom", d.Run(t.Context(), executortest.NewRun(entity.JobCustom, "", ""), nil).Result)
	require.Equal(t, "http", d.Run(t.Context(), executortest.NewRun(entity.JobHTTP, "", ""), nil).Result)

	outcome := d.Run(t.Context(), executortest.NewRun(entity.JobCommand, "", ""), nil)
	require.Equal(t, entity.Failed(entity.ReasonInvalid, commandsOff), outcome)
}

func TestRunTurnsAPanicIntoAFailure(t *testing.T) {
	var none *entity.Job
	cases := []struct {
		name    string
		value   any
		message string
	}{
		{"text", "out of luck", "panic: out of luck"},
		{"error", errors.New("broken"), "panic: broken"},
		{"nil", nil, "panic: " + new(runtime.PanicNilError).Error()},
		{"number", 42, "panic: 42"},
		{"large value", make([]int, 1<<20), "panic: a value of type []int"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			outcome, rep := runScript(t.Context(), func(context.Context) entity.Outcome { panic(c.value) })
			require.Equal(t, entity.Failed(entity.ReasonPanic, c.message), outcome)
			require.Len(t, rep.Lines(), 1)
			require.Equal(t, entity.LogStderr, rep.Lines()[0].Type)
			require.True(t, strings.HasPrefix(rep.Lines()[0].Text, c.message+"\n"))
			require.Contains(t, rep.Lines()[0].Text, "TestRunTurnsAPanicIntoAFailure", "the stack must name the culprit")
		})
	}

	outcome, _ := runScript(t.Context(), func(context.Context) entity.Outcome { return entity.Succeeded(none.Name) })
	require.Contains(t, outcome.Message, "nil pointer dereference")
}

func TestAPanicLeavesABoundedTrace(t *testing.T) {
	var deep func(n int) entity.Outcome
	deep = func(n int) entity.Outcome {
		if n == 0 {
			panic(strings.Repeat("é", 1<<20))
		}
		return deep(n - 1)
	}
	outcome, rep := runScript(t.Context(), func(context.Context) entity.Outcome { return deep(5000) })
	require.Equal(t, entity.ReasonPanic, outcome.Reason)
	require.LessOrEqual(t, len(outcome.Message), 1<<10)
	require.LessOrEqual(t, len(rep.Lines()[0].Text), 10<<10)
}

func TestAPanicAfterACancelIsStillAPanic(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	outcome, _ := runScript(ctx, func(context.Context) entity.Outcome {
		cancel(entity.ErrStopCancel)
		panic("late")
	})
	require.Equal(t, entity.ReasonPanic, outcome.Reason)
}

// Rule 27: a node whose lease has ended begins no attempt.
func TestAnAttemptWithoutTheRightToActDoesNotBegin(t *testing.T) {
	ctx := entity.WithRight(t.Context(), func() bool { return false })
	outcome, _ := runScript(ctx, func(context.Context) entity.Outcome {
		require.Fail(t, "it began")
		return entity.Succeeded("")
	})
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonNodeLost}, []any{outcome.Status, outcome.Reason})
}

func TestRunMapsTheCauseOfTheCancellation(t *testing.T) {
	cases := []struct {
		name   string
		cause  error
		status entity.Status
		reason entity.Reason
		text   string
	}{
		{"timeout", entity.ErrStopTimeout, entity.StatusTimeout, entity.ReasonTimeout, "the attempt ran out of time"},
		{"deadline", context.DeadlineExceeded, entity.StatusTimeout, entity.ReasonTimeout, "the attempt ran out of time"},
		{
			"cancel", fmt.Errorf("by ann: %w", entity.ErrStopCancel), entity.StatusCancelled, entity.ReasonNone,
			"by ann: the run was cancelled",
		},
		{"shutdown", entity.ErrStopShutdown, entity.StatusFailed, entity.ReasonShutdown, "the node is shutting down"},
		{"lost", entity.ErrStopLost, entity.StatusFailed, entity.ReasonNodeLost, "the node lost the attempt"},
		{"no cause", nil, entity.StatusFailed, entity.ReasonShutdown, "the node is shutting down"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			giveUp := func(message string) entity.Outcome {
				outcome, _ := runScript(ctx, func(ctx context.Context) entity.Outcome {
					cancel(c.cause)
					<-ctx.Done()
					o := entity.Failed(entity.ReasonError, message)
					o.NoRetry, o.RetryAfter, o.Result = true, time.Minute, "half"
					return o
				})
				return outcome
			}
			want := entity.Outcome{
				Status: c.status, Reason: c.reason, Message: c.text + ": gave up", NoRetry: true, RetryAfter: time.Minute,
				Result: "half",
			}
			require.Equal(t, want, giveUp("gave up"))
			require.Equal(t, c.text, giveUp("").Message)
			require.Equal(t, "load: "+c.text, giveUp("load: "+c.text).Message, "the cause is not said twice")
		})
	}
}

func TestAPreciseEndStandsAfterACancel(t *testing.T) {
	for _, end := range []entity.Outcome{
		entity.Succeeded("done"),
		entity.Failed(entity.ReasonHTTPStatus, "500"),
		{Status: entity.StatusTimeout, Reason: entity.ReasonTimeout},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		outcome, _ := runScript(ctx, func(context.Context) entity.Outcome {
			cancel(entity.ErrStopCancel)
			return end
		})
		require.Equal(t, end, outcome)
	}
}

func TestRunWaitsForAnExecutorThatIgnoresTheCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(entity.ErrStopCancel)
		release, ended := make(chan struct{}), make(chan entity.Outcome, 1)
		go func() {
			outcome, _ := runScript(ctx, func(context.Context) entity.Outcome {
				<-release
				return entity.Succeeded("")
			})
			ended <- outcome
		}()
		synctest.Wait()
		require.Empty(t, ended, "the slot was given up while the work went on")
		close(release)
		require.Equal(t, entity.StatusSuccess, (<-ended).Status)
	})
}

func TestRunMendsHalfAnOutcome(t *testing.T) {
	for _, status := range []entity.Status{"", entity.StatusRunning, entity.StatusDead} {
		outcome, _ := runScript(t.Context(), func(context.Context) entity.Outcome { return entity.Outcome{Status: status} })
		require.Equal(t, entity.StatusFailed, outcome.Status)
		require.Equal(t, entity.ReasonError, outcome.Reason)
	}
	outcome, _ := runScript(t.Context(), func(context.Context) entity.Outcome {
		return entity.Outcome{Status: entity.StatusFailed, Message: "m"}
	})
	require.Equal(t, entity.Failed(entity.ReasonError, "m"), outcome)
}

func TestCheckAsksTheExecutorOfTheType(t *testing.T) {
	wrong := []apperror.Field{{Field: "jobData.x", Code: "invalid", Message: "no"}}
	d := executor.New(map[entity.JobType]executor.Executor{entity.JobCustom: scripted{wrong: wrong}}, nil)
	cases := []struct {
		name string
		job  entity.Job
		want []apperror.Field
	}{
		{"wrong", entity.Job{Type: entity.JobCustom, Data: "{}"}, wrong},
		{"data that the domain refuses", entity.Job{Type: entity.JobCustom, Data: "[]"}, nil},
		{"type that the domain refuses", entity.Job{Type: "MAGIC", Data: "{}"}, nil},
		{"commands", entity.Job{Type: entity.JobCommand, Data: "{}"}, []apperror.Field{
			{Field: "jobType", Code: "not_enabled", Message: commandsOff},
		}},
		{"no such executor", entity.Job{Type: entity.JobHTTP, Data: "{}"}, []apperror.Field{
			{Field: "jobType", Code: "not_enabled", Message: `jobs of type "HTTP" are not enabled on this server`},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, d.Check(&c.job)) })
	}
}
