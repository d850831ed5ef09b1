package entity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// transitions are the methods that change the state, with the states that each
// leads to.
func transitions() map[string]func(e *entity.Execution) (to entity.Status, err error) {
	type try = func(e *entity.Execution) (entity.Status, error)
	all := map[string]try{
		"StartOn": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusRunning, e.StartOn("n", 3, noon)
		},
		"RevertStart": func(e *entity.Execution) (entity.Status, error) { return entity.StatusWaiting, e.RevertStart() },
		"Retry": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusWaiting, e.Retry(entity.NextAttempt{Wait: time.Second}, &entity.Outcome{}, noon)
		},
		"PutBack": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusWaiting, e.PutBack(noon, "", false, noon)
		},
		"Skip": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusSkipped, e.Skip(entity.ReasonOverlap, noon)
		},
		"Fail": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusFailed, e.Fail(entity.ReasonNodeLost, "", noon)
		},
		"Cancel": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusCancelled, e.Cancel(entity.ReasonDeleted, noon)
		},
		"CancelAttempt": func(e *entity.Execution) (entity.Status, error) {
			return entity.StatusCancelled, e.CancelAttempt(entity.ReasonNone, noon)
		},
	}
	for _, s := range entity.Statuses() {
		all["Finish "+string(s)] = func(e *entity.Execution) (entity.Status, error) {
			return s, e.Finish(s, &entity.Outcome{}, entity.AttemptTime{}, noon)
		}
	}
	return all
}

// No method makes a change of state that the table does not list, and a refused
// one changes nothing.
func TestMethodsFollowTheTableOfTransitions(t *testing.T) {
	t.Parallel()
	for name, transition := range transitions() {
		for _, from := range append(entity.Statuses(), "", "UNKNOWN") {
			e := entity.Execution{ID: "e", Status: from, Claim: "c", NodeID: "n", ErrorMessage: "m", Result: "r"}
			before := e
			to, err := transition(&e)
			if from.CanBecome(to) && (to.Final() || !strings.HasPrefix(name, "Finish")) {
				require.NoError(t, err, "%s of %s", name, from)
				require.Equal(t, to, e.Status, "%s of %s", name, from)
				require.Equal(t, to.Final() || name == "RevertStart", e.Claim == "", "%s of %s", name, from)
				continue
			}
			var refused *entity.TransitionError
			require.ErrorAs(t, err, &refused, "%s of %s", name, from)
			require.Equal(t, &entity.TransitionError{ExecutionID: "e", From: from, To: to}, refused)
			require.Equal(t, before, e, "%s of %s", name, from)
		}
	}
}

func TestOnlyARunningExecutionIsDetachedOrAskedToStop(t *testing.T) {
	t.Parallel()
	for _, from := range entity.Statuses() {
		e := entity.Execution{ID: "e", Status: from, NodeID: "n", Epoch: 2, Claim: "c"}
		before := e
		detached, asked := e.Detach(noon, noon.Add(time.Hour), true, noon), before.RequestCancel(entity.ReasonReplaced, noon)
		if from != entity.StatusRunning {
			require.Error(t, detached)
			require.Error(t, asked)
			require.Equal(t, before, e)
			continue
		}
		require.NoError(t, detached)
		require.NoError(t, asked)
		require.True(t, e.Detached())
		require.Equal(t, []any{"n", int64(0)}, []any{e.NodeID, e.Epoch})
		require.True(t, before.CancelRequested)
	}
}

// A start that was not stored leaves no trace: the execution can wait elsewhere.
func TestARevertedStartLeavesNoTrace(t *testing.T) {
	t.Parallel()
	e := entity.Execution{ID: "e", Status: entity.StatusWaiting, UpdateTime: noon}
	before := e
	require.NoError(t, e.StartOn("n", 3, noon))
	require.Equal(t, entity.Execution{
		ID: "e", Status: entity.StatusRunning, NodeID: "n", Epoch: 3, Token: 1, Attempt: 1,
		Claim: entity.RunningKey("n"), StartTime: noon, UpdateTime: noon,
	}, e)
	require.NoError(t, e.RevertStart())
	require.Equal(t, before, e)
}

func TestTheNextAttemptBeginsAnew(t *testing.T) {
	t.Parallel()
	now := noon.Add(time.Minute)
	for name, c := range map[string]struct {
		reason          entity.Reason
		lost            bool
		retries, losses int
	}{
		"a failure counts as a retry":    {entity.ReasonError, false, 1, 0},
		"a lost node counts apart":       {entity.ReasonNodeLost, true, 0, 1},
		"a planned stop counts nowhere":  {entity.ReasonShutdown, false, 0, 0},
		"a time-out counts as a failure": {entity.ReasonTimeout, false, 1, 0},
	} {
		e := entity.Execution{
			ID: "e", Status: entity.StatusRunning, NodeID: "n", Epoch: 1, Token: 4, Attempt: 2, StartTime: noon, Progress: 9,
			StartDeadline: noon, CancelRequested: true, ErrorMessage: "m", Result: "r", Claim: entity.RunningKey("n"),
		}
		next := entity.NextAttempt{Wait: time.Second, NodeLost: c.lost, StartWithin: time.Hour}
		require.NoError(t, e.Retry(next, &entity.Outcome{Reason: c.reason, Checkpoint: "half"}, now), name)
		require.Equal(t, entity.Execution{
			ID: "e", Status: entity.StatusWaiting, Epoch: 1, Token: 4, Attempt: 2, RetryCount: c.retries, NodeLosses: c.losses,
			StartDeadline: now.Add(time.Second + time.Hour), Checkpoint: "half",
			Claim: entity.ScheduledKey(now.Add(time.Second)), UpdateTime: now,
		}, e, name)
	}
}

func TestAnInterruptedRunHasMoreAttemptsThanRetries(t *testing.T) {
	t.Parallel()
	begun := func() entity.Execution {
		return entity.Execution{ID: "e", Status: entity.StatusRunning, NodeID: "n", Token: 1, Attempt: 1}
	}
	retried := func(reason entity.Reason, lost bool) bool {
		e := begun()
		require.NoError(t, e.Retry(entity.NextAttempt{NodeLost: lost}, &entity.Outcome{Reason: reason}, noon))
		return e.Interrupted()
	}
	require.True(t, retried(entity.ReasonNodeLost, true))
	require.True(t, retried(entity.ReasonShutdown, false))
	require.False(t, retried(entity.ReasonError, false))
	e := begun()
	require.NoError(t, e.PutBack(noon, "", false, noon))
	require.False(t, e.Interrupted(), "it did not begin")
	require.False(t, (&entity.Execution{Status: entity.StatusWaiting}).Interrupted())
}

// The hot path asks the table for each execution.
func TestATransitionAllocatesNoMoreThanItsClaimKey(t *testing.T) {
	e := entity.Execution{ID: "e"}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		e.Status = entity.StatusWaiting
		if err := e.StartOn("n", 1, noon); err != nil {
			t.Error(err)
		}
	}), 1.0)
}
