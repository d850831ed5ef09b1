package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/report"
)

func newRegistry(t *testing.T) *report.Registry {
	t.Helper()
	r, err := report.NewRegistry()
	require.NoError(t, err)
	return r
}

func attempt(id string, number int) *entity.Execution {
	return &entity.Execution{ID: id, Attempt: number, Token: int64(number)}
}

var news = entity.RunReport{Progress: -1}

func TestATargetSpeaksForItsAttempt(t *testing.T) {
	r, rep := newRegistry(t), &executortest.Recorder{}
	w := r.Open(attempt("a", 1), rep)
	defer w.Close()
	state := "row 7"
	require.NoError(t, r.Report("a", w.Token(), entity.RunReport{Progress: 40, Checkpoint: &state, Lines: []string{"one", "two"}}))
	require.NoError(t, r.Report("a", w.Token(), news))
	progress, checkpoint := rep.Last()
	require.Equal(t, []any{40, "row 7"}, []any{progress, checkpoint}, "what is not said stays")
	require.Equal(t, []executortest.Line{{Type: entity.LogStdout, Text: "one"}, {Type: entity.LogStdout, Text: "two"}}, rep.Lines())
	require.Empty(t, w.End(), "it goes on")
	require.NoError(t, r.Report("a", w.Token(), entity.RunReport{Progress: -1, Status: entity.StatusSuccess, Result: "42"}))
	require.Equal(t, entity.Succeeded("42"), <-w.End())
}

func TestATargetMayFail(t *testing.T) {
	r := newRegistry(t)
	for message, want := range map[string]string{"no stock": "no stock", "": "the target reported a failure and did not say why"} {
		w := r.Open(attempt("a", 1), &executortest.Recorder{})
		require.NoError(t, r.Report("a", w.Token(), entity.RunReport{Progress: -1, Status: entity.StatusFailed, Message: message, Result: "r", NoRetry: true}))
		o := <-w.End()
		require.Equal(t, []any{entity.StatusFailed, entity.ReasonError, want, "r", true}, []any{o.Status, o.Reason, o.Message, o.Result, o.NoRetry})
		w.Close()
	}
}

// An end is an end: what comes after it counts for nothing.
func TestAnEndIsReportedOnce(t *testing.T) {
	r, rep := newRegistry(t), &executortest.Recorder{}
	w := r.Open(attempt("a", 1), rep)
	defer w.Close()
	require.NoError(t, r.Report("a", w.Token(), entity.RunReport{Progress: -1, Status: entity.StatusSuccess}))
	err := r.Report("a", w.Token(), entity.RunReport{Progress: 5, Status: entity.StatusFailed, Lines: []string{"late"}})
	require.True(t, fault.Is(err, fault.KindConflict))
	require.Empty(t, rep.Lines())
	require.Equal(t, entity.StatusSuccess, (<-w.End()).Status)
	require.True(t, fault.Is(r.Report("a", w.Token(), news), fault.KindConflict), "also once it was taken")
}

// Whoever has no token of this attempt learns nothing and changes nothing.
func TestOnlyTheTokenOfTheAttemptCounts(t *testing.T) {
	r, other := newRegistry(t), newRegistry(t)
	first := r.Open(attempt("a", 1), &executortest.Recorder{})
	first.Close()
	w := r.Open(attempt("a", 2), &executortest.Recorder{})
	defer w.Close()
	b := r.Open(attempt("b", 2), &executortest.Recorder{})
	defer b.Close()
	foreign := other.Open(attempt("a", 2), &executortest.Recorder{})
	defer foreign.Close()
	require.NotEqual(t, first.Token(), w.Token())
	for name, call := range map[string]func() error{
		"none":                func() error { return r.Report("a", "", news) },
		"a former attempt's":  func() error { return r.Report("a", first.Token(), news) },
		"another run's":       func() error { return r.Report("a", b.Token(), news) },
		"another process's":   func() error { return r.Report("a", foreign.Token(), news) },
		"of an unknown run":   func() error { return r.Report("c", w.Token(), news) },
		"of a run that ended": func() error { b.Close(); return r.Report("b", b.Token(), news) },
	} {
		t.Run(name, func(t *testing.T) {
			err := call()
			require.True(t, fault.Is(err, fault.KindUnauthenticated))
			require.NotContains(t, err.Error(), w.Token())
		})
	}
	require.Error(t, r.Authorize("a", first.Token()))
	require.NoError(t, r.Authorize("a", w.Token()))
	require.NoError(t, r.Report("a", w.Token(), news))
}

// The end of a former wait must not close that of the attempt after it.
func TestAFormerWaitDoesNotCloseTheNext(t *testing.T) {
	r := newRegistry(t)
	first := r.Open(attempt("a", 1), &executortest.Recorder{})
	second := r.Open(attempt("a", 2), &executortest.Recorder{})
	first.Close()
	require.NoError(t, r.Report("a", second.Token(), news))
	second.Close()
	require.Error(t, r.Report("a", second.Token(), news))
}
