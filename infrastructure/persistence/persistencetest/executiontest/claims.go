package executiontest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Claims runs the suite over stores that open gives.
func Claims(t *testing.T, open storetest.Opener) {
	t.Run("strictly by priority, then by fair time", func(t *testing.T) { claimOrder(t, open(t, nil)) })
	t.Run("a claim makes a run the node's", func(t *testing.T) { claimEffect(t, open(t, nil)) })
	t.Run("a claim reads the span that asked", func(t *testing.T) { claimOfAskedRuns(t, open(t, nil)) })
	t.Run("what may not start is passed over", func(t *testing.T) { claimPassesOver(t, open(t, nil)) })
	t.Run("claimers at once never share a run", func(t *testing.T) { claimAtOnce(t, open(t, nil)) })
	t.Run("questions to the claim index", func(t *testing.T) { claimQuestions(t, open(t, nil)) })
}

// ready is a waiting run of some priority and fair time.
func ready(n, priority int, fair time.Time) *entity.Execution {
	e := storetest.RunOf(storetest.JobID(n), storetest.Noon)
	e.Priority, e.Claim = priority, entity.CommonQueue.Key(priority, fair)
	return e
}

func claimOrder(t *testing.T, s *persistence.Store) {
	a := ready(1, 1, storetest.Noon.Add(-time.Hour))
	b := ready(2, 10, storetest.Noon.Add(time.Hour))
	c := ready(3, 10, storetest.Noon)
	d := ready(4, 5, storetest.Noon.Add(-time.Minute))
	e := ready(5, 5, storetest.Noon)
	f := ready(6, 5, storetest.Noon) // the same fair time: by id
	storetest.Add(t, s, nil, a, b, c, d, e, f)
	want := []string{c.ID, b.ID, d.ID, min(e.ID, f.ID), max(e.ID, f.ID), a.ID}
	got := append(storetest.IDs(storetest.Claim(t, s, "n1", 4, storetest.Noon)),
		storetest.IDs(storetest.Claim(t, s, "n1", 4, storetest.Noon))...)
	require.Equal(t, want, got)
	require.Empty(t, storetest.Claim(t, s, "n1", 4, storetest.Noon))
	require.Empty(t, storetest.Claim(t, s, "n1", 0, storetest.Noon))
}

func claimEffect(t *testing.T, s *persistence.Store) {
	e := ready(1, 5, storetest.Noon)
	e.Attempt, e.Token, e.RetryCount = 2, 7, 1
	e.StartDeadline = storetest.Noon.Add(time.Minute)
	storetest.Add(t, s, nil, e)
	now := storetest.Noon.Add(time.Second)
	got := storetest.Claim(t, s, "node-9", 10, now)
	want := *e
	want.Status, want.NodeID, want.Epoch, want.Token, want.Attempt = entity.StatusRunning, "node-9", 1, 8, 3
	want.Claim, want.StartTime, want.UpdateTime = entity.RunningKey("node-9"), now, now
	require.Equal(t, []*entity.Execution{&want}, got)
	require.Equal(t, &want, storetest.Get(t, s, e.ID), "what is returned is what is stored")
}

// The claimer of a run that somebody, or a workflow run, asked for learns of the span that did, also among others.
func claimOfAskedRuns(t *testing.T, s *persistence.Store) {
	planned, plain, asked := ready(1, 5, storetest.Noon), ready(2, 5, storetest.Noon), ready(3, 5, storetest.Noon)
	planned.Parent = parentSpan // nobody stores that; the claim of a planned run reads none
	for _, e := range []*entity.Execution{plain, asked} {
		e.Trigger, e.FireKey = entity.TriggerManual, "MANUAL:"+e.ID
	}
	asked.Parent = parentSpan
	step := ready(4, 5, storetest.Noon)
	step.FireKey, step.Parent = identity.StepKey(asked.ID, "load"), parentSpan
	storetest.Add(t, s, nil, planned, plain, asked, step)
	got := map[string]entity.TraceContext{}
	for _, e := range storetest.Claim(t, s, "n1", 10, storetest.Noon) {
		got[e.ID] = e.Parent
	}
	want := map[string]entity.TraceContext{planned.ID: "", plain.ID: "", asked.ID: parentSpan, step.ID: parentSpan}
	require.Equal(t, want, got)
}

func claimPassesOver(t *testing.T, s *persistence.Store) {
	late, parked, queued := ready(1, 5, storetest.Noon), ready(2, 5, storetest.Noon), ready(3, 5, storetest.Noon)
	late.StartDeadline = storetest.Noon
	parked.Claim = entity.ScheduledKey(storetest.Noon.Add(-time.Hour))
	queued.Claim = entity.QueuedKey(storetest.JobID(3), 1)
	running := storetest.StartedOn(storetest.RunOf(storetest.JobID(4), storetest.Noon), "n1", 1)
	good := ready(5, 1, storetest.Noon)
	storetest.Add(t, s, nil, late, parked, queued, running, good)
	require.Equal(t, []string{good.ID}, storetest.IDs(storetest.Claim(t, s, "n2", 10, storetest.Noon)))
}

func claimAtOnce(t *testing.T, s *persistence.Store) {
	const runs, claimers = 400, 4
	var rows []*entity.Execution
	for n := range runs {
		rows = append(rows, ready(n, 1+n%10, storetest.Noon))
	}
	storetest.Add(t, s, nil, rows...)
	owner := claimAll(t, s, runs, claimers, func(node string) repository.ClaimRequest {
		return repository.ClaimRequest{NodeID: node, Epoch: 1, Limit: 7, Now: storetest.Noon}
	})
	require.Len(t, owner, runs)
	for id, node := range owner {
		require.Equal(t, node, storetest.Get(t, s, id).NodeID)
	}
}

// claimAll lets claimers claim at once until everything is taken, and returns
// who took what.
func claimAll(t *testing.T, s *persistence.Store, runs, claimers int,
	request func(node string) repository.ClaimRequest,
) map[string]string {
	t.Helper()
	var mu sync.Mutex
	owner := make(map[string]string)
	var wg sync.WaitGroup
	errs := make([]error, claimers)
	for i := range claimers {
		wg.Go(func() {
			node := fmt.Sprintf("n%d", i)
			for {
				var got []*entity.Execution
				errs[i] = s.Write(t.Context(), repository.LaneComplete, "claim",
					func(ctx context.Context, tx repository.Tx) (err error) {
						got, err = tx.Executions.Claim(ctx, request(node))
						return err
					})
				if errs[i] != nil {
					return
				}
				mu.Lock()
				for _, e := range got {
					if owner[e.ID] != "" {
						errs[i] = fmt.Errorf("run %s was claimed by %s and %s", e.ID, owner[e.ID], node)
					}
					owner[e.ID] = node
				}
				all := len(owner) == runs
				mu.Unlock()
				if all || errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	return owner
}

func claimQuestions(t *testing.T, s *persistence.Store) {
	first, second := ready(1, 5, storetest.Noon), ready(2, 5, storetest.Noon.Add(time.Second))
	second.StartDeadline = storetest.Noon.Add(time.Minute)
	soon, later := ready(3, 5, storetest.Noon), ready(4, 5, storetest.Noon)
	soon.Claim, later.Claim = entity.ScheduledKey(storetest.Noon.Add(time.Second)),
		entity.ScheduledKey(storetest.Noon.Add(time.Hour))
	mine, other := storetest.StartedOn(storetest.RunOf(storetest.JobID(5), storetest.Noon), "n1", 3),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(6), storetest.Noon), "n10", 1)
	mine.CancelRequested, mine.Reason, mine.Attempt = true, entity.ReasonReplaced, 4
	done := storetest.RunOf(storetest.JobID(7), storetest.Noon)
	done.Status, done.Claim = entity.StatusSkipped, ""
	storetest.Add(t, s, nil, first, second, soon, later, mine, other, done)

	lo, hi := entity.CommonQueue.Range()
	all := repository.ClaimRange{Lo: lo, Hi: hi, Limit: 10}
	rows, err := s.Range(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, []*entity.Execution{first, second}, rows)
	all.Limit = 1
	rows, err = s.Range(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, []string{first.ID}, storetest.IDs(rows))
	behind := all
	behind.After(first)
	rows, err = s.Range(t.Context(), behind)
	require.NoError(t, err)
	require.Equal(t, []string{second.ID}, storetest.IDs(rows))
	behind.After(second)
	rows, err = s.Range(t.Context(), behind)
	require.NoError(t, err)
	require.Empty(t, rows)
	n, err := s.CountRange(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, 1, n, "a count stops at its limit")
	all.Limit, all.DeadlineBefore = 10, storetest.Noon.Add(time.Minute)
	rows, err = s.Range(t.Context(), all)
	require.NoError(t, err)
	require.Empty(t, rows)
	all.DeadlineBefore = storetest.Noon.Add(time.Minute + time.Millisecond)
	rows, err = s.Range(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, []string{second.ID}, storetest.IDs(rows))
	n, err = s.CountRange(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, 1, n)

	parked := entity.ScheduledSpan()
	key, err := s.First(t.Context(), parked.Lo, parked.Hi)
	require.NoError(t, err)
	require.Equal(t, soon.Claim, key)
	key, err = s.First(t.Context(), entity.ScheduledKey(storetest.Noon.Add(2*time.Hour)), parked.Hi)
	require.NoError(t, err)
	require.Empty(t, key)

	held, err := s.Held(t.Context(), "n1")
	require.NoError(t, err)
	require.Len(t, held, 1, "n10 is not n1")
	h := held[0]
	require.Equal(t, []any{mine.ID, mine.Status, mine.Token, mine.Attempt, mine.Epoch, true, mine.Reason},
		[]any{h.ID, h.Status, h.Token, h.Attempt, h.Epoch, h.CancelRequested, h.Reason})
}
