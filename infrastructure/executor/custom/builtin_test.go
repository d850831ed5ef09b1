package custom_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

func runBuiltIn(t *testing.T, class, data string) (entity.Outcome, []executortest.Line) {
	t.Helper()
	rep := &executortest.Recorder{}
	return newRegistry().Run(t.Context(), handlerRun(class, data), rep), rep.Lines()
}

func TestNoopSucceedsSilently(t *testing.T) {
	outcome, lines := runBuiltIn(t, "noop", "{}")
	require.Equal(t, entity.Succeeded(""), outcome)
	require.Empty(t, lines)
}

func TestNoopIsLight(t *testing.T) {
	registry, run, rep := newRegistry(), handlerRun("noop", "{}"), &executortest.Recorder{}
	require.Zero(t, testing.AllocsPerRun(100, func() { registry.Run(t.Context(), run, rep) }))
}

func TestEchoLogsAndReturnsItsText(t *testing.T) {
	outcome, lines := runBuiltIn(t, "echo", `{"text":"50% of ${jobName} $${x}"}`)
	require.Equal(t, entity.Succeeded("50% of settle orders ${x}"), outcome)
	require.Equal(t, []executortest.Line{{Type: entity.LogStdout, Text: "50% of settle orders ${x}"}}, lines)

	outcome, _ = runBuiltIn(t, "echo", "")
	require.Equal(t, entity.Succeeded(""), outcome)
}

func TestFailFailsTheFirstAttempts(t *testing.T) {
	cases := []struct {
		data    string
		attempt int
		message string // empty: success
	}{
		{`{}`, 1, "failed as asked"},
		{`{"message":"boom"}`, 99, "boom"},
		{`{"message":"boom","times":0}`, 7, "boom"},
		{`{"message":"boom","times":2}`, 1, "boom"},
		{`{"message":"boom","times":2}`, 2, "boom"},
		{`{"message":"boom","times":2}`, 3, ""},
	}
	for _, c := range cases {
		run := handlerRun("fail", c.data)
		run.Execution.Attempt = c.attempt
		outcome := newRegistry().Run(t.Context(), run, &executortest.Recorder{})
		if c.message == "" {
			require.Equal(t, entity.Succeeded(""), outcome, "%v", c)
		} else {
			require.Equal(t, entity.Failed(entity.ReasonError, c.message), outcome, "%v", c)
		}
	}
}

func TestLogWritesLines(t *testing.T) {
	texts := func(data string) []string {
		outcome, lines := runBuiltIn(t, "log", data)
		require.Equal(t, entity.StatusSuccess, outcome.Status)
		var all []string
		for _, line := range lines {
			require.Equal(t, entity.LogStdout, line.Type)
			all = append(all, line.Text)
		}
		return all
	}
	require.Equal(t, []string{"line 1", "line 2", "line 3"}, texts(`{"lines":3}`))
	require.Equal(t, []string{"a", "50%", ""}, texts(`{"lines":["a","50%",""]}`))
	require.Empty(t, texts(`{}`))
	require.Empty(t, texts(`{"lines":null}`))
	require.Len(t, texts(`{"lines":1000}`), 1000)
}

func TestLogHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(entity.ErrStopCancel)
	rep := &executortest.Recorder{}
	outcome := newRegistry().Run(ctx, handlerRun("log", `{"lines":1000000}`), rep)
	require.Equal(t, entity.StatusFailed, outcome.Status)
	require.Empty(t, rep.Lines())
}

func TestSleepWaitsByTheClock(t *testing.T) {
	c := clocktest.NewManual(time.Unix(0, 0))
	registry := custom.New(c)
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- registry.Run(t.Context(), handlerRun("sleep", `{"ms":60000}`), &executortest.Recorder{})
	}()
	var passed time.Duration
	require.Eventually(t, func() bool {
		c.Advance(10 * time.Second)
		passed += 10 * time.Second
		select {
		case outcome := <-ended:
			return outcome.Status == entity.StatusSuccess
		default:
			return false
		}
	}, 10*time.Second, time.Millisecond)
	require.GreaterOrEqual(t, passed, time.Minute)
}

func TestSleepHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(entity.ErrStopTimeout)
	outcome := newRegistry().Run(ctx, handlerRun("sleep", `{"ms":604800000}`), &executortest.Recorder{})
	require.Equal(t, entity.Failed(entity.ReasonError, entity.ErrStopTimeout.Error()), outcome)
}

func TestBuiltInDataIsCheckedAtTheEdge(t *testing.T) {
	cases := []struct{ class, data, field, code string }{
		{"noop", `{"x":1}`, "jobData.x", "unknown_field"},
		{"sleep", `{"MS":1}`, "jobData.MS", "unknown_field"},
		{"sleep", `{"ms":-1}`, "jobData.ms", "out_of_range"},
		{"sleep", `{"ms":604800001}`, "jobData.ms", "out_of_range"},
		{"sleep", `{"ms":1.5}`, "jobData.ms", "not_an_integer"},
		{"sleep", `{"ms":"1"}`, "jobData.ms", "wrong_type"},
		{"echo", `{"text":1}`, "jobData.text", "wrong_type"},
		{"echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 65537)), "jobData.text", "too_long"},
		{"fail", `{"times":-1}`, "jobData.times", "out_of_range"},
		{"fail", `{"message":{}}`, "jobData.message", "wrong_type"},
		{"log", `{"lines":-1}`, "jobData.lines", "out_of_range"},
		{"log", `{"lines":1000001}`, "jobData.lines", "out_of_range"},
		{"log", `{"lines":"x"}`, "jobData.lines", "wrong_type"},
		{"log", `{"lines":["a",{}]}`, "jobData.lines[1]", "wrong_type"},
	}
	for _, c := range cases {
		t.Run(c.class+" "+c.field+" "+c.code, func(t *testing.T) {
			faults := newRegistry().Check(&entity.Job{Class: c.class, Data: c.data})
			require.Len(t, faults, 1)
			require.Equal(t, c.field, faults[0].Field)
			require.Equal(t, c.code, faults[0].Code)
		})
	}
	faults := newRegistry().Check(&entity.Job{Class: "fail", Data: `{"times":"x","message":1,"else":2}`})
	require.Len(t, faults, 3, "everything that is wrong is said at once")
	for class, data := range map[string]string{
		"noop": "", "sleep": `{"ms":604800000}`, "echo": `{"text":"x"}`, "fail": `{"message":"m","times":1000}`,
		"log": `{"lines":["a"]}`,
	} {
		require.Empty(t, newRegistry().Check(&entity.Job{Class: class, Data: data}), class)
	}
}
