package detached_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// quiet waits until a node holds no slot.
func quiet(t *testing.T, n *enginetest.Node) {
	t.Helper()
	enginetest.Await(t, func() bool {
		running, _ := n.Runner.Load(entity.SlotGeneral)
		return running == 0
	}, "the slots of %s are free", n.ID())
}

func TestAThousandDetachedRunsHoldNoSlot(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := rigOn(t, cfg, 2)
		job := r.job(nil)
		var execs []*entity.Execution
		for range 1000 {
			execs = append(execs, r.one().Trigger(t, job.ID)...)
		}
		enginetest.Await(t, func() bool {
			n, err := r.one().Store.CountRange(t.Context(), repository.ClaimRange{
				Lo: entity.DetachedSpan().Lo,
				Hi: entity.DetachedSpan().Hi, Limit: 2000,
			})
			require.NoError(t, err)
			return n == 1000
		}, "all are detached")
		for _, n := range r.nodes {
			quiet(t, n)
		}
		require.NoError(t, r.report(r.nodes[1], execs[999].ID, 1, ended(entity.StatusSuccess)))
		r.one().Clock.Advance(limit)
		n, err := r.nodes[1].Detached.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 999, n, "a sweep goes on while there is more")
	})
}

// Between the answer of the target and the detaching write the attempt is its
// node's, like any other: when that dies, onNodeLoss decides.
func TestAnAcceptedRunWhoseWriteWasLostIsLostWithItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := firstAtWork(t, 2)
		poster, other := r.one(), r.nodes[1]
		accepted := make(chan struct{}, 1)
		poster.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			o := r.Reply(ctx, run, rep)
			poster.Faults.Away(true) // the last that is heard of the node
			accepted <- struct{}{}
			return o
		})
		exec := poster.Trigger(t, r.job(nil).ID)[0]
		<-accepted
		r.start(other)
		require.Equal(t, poster.ID(), other.Execution(t, exec.ID).NodeID)
		poster.Die(t)
		held, err := other.Runner.Reap(t.Context(), poster.ID(), 1<<40)
		require.NoError(t, err)
		require.Equal(t, 1, held)
		enginetest.Await(t, func() bool {
			_, err := other.Repairs.PromoteScheduled(t.Context())
			require.NoError(t, err)
			return other.Execution(t, exec.ID).Attempt == 2 && other.Execution(t, exec.ID).Detached()
		}, "it is posted again, as its job says")
		require.Equal(t, 1, other.Execution(t, exec.ID).NodeLosses)
		requireCode(t, r.report(other, exec.ID, 1, ended(entity.StatusSuccess)), apperror.KindConflict, "run_over")
		require.NoError(t, r.report(other, exec.ID, 2, ended(entity.StatusSuccess)))

		poster.Faults.Away(false)
		poster.Pass(t, func() bool { // the node tries again to store what it holds
			running, _ := poster.Runner.Load(entity.SlotGeneral)
			return running == 0
		}, "all slots are given back")
		require.Equal(t, 1, poster.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
		var evidence []string
		for _, c := range r.lines(exec.ID) {
			if c.Type == entity.LogEvidence {
				evidence = append(evidence, c.Content)
			}
		}
		require.Len(t, evidence, 2)
		require.Contains(t, evidence[1], "the target of node node-1 accepted an attempt that is no longer the run's")
		require.Equal(t, entity.StatusSuccess, other.Execution(t, exec.ID).Status)
	})
}

// A detaching write whose answer is lost happened once, or happens again.
func TestALostAnswerOfTheDetachingWriteChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, lost := range []enginetest.Fault{enginetest.LostReply, enginetest.LostCommit, enginetest.Refused} {
			r := newRig(t, 1)
			n := r.one()
			n.Faults.Next("complete", lost)
			execs := n.Trigger(t, r.job(nil).ID)
			n.Pass(t, func() bool { return n.Execution(t, execs[0].ID).Detached() }, "it is detached")
			n.Pass(t, func() bool {
				running, _ := n.Runner.Load(entity.SlotGeneral)
				return running == 0
			}, "its slot is given back")
			require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
			require.Len(t, n.Script.Runs(), 1)
			require.NoError(t, r.report(n, execs[0].ID, 1, ended(entity.StatusSuccess)))
		}
	})
}

// A cancellation while the call is under way is heard, whatever the target answers.
func TestACancelDuringTheCallEndsTheAcceptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		n := r.one()
		n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			o := r.Reply(ctx, run, rep)
			n.Write(t, func(ctx context.Context, tx repository.Tx) error {
				execs, err := tx.Executions.Lock(ctx, []string{run.Execution.ID})
				if err != nil {
					return err
				}
				execs[0].CancelRequested = true
				return tx.Executions.Update(ctx, execs[0], entity.StatusRunning, execs[0].Token)
			})
			return o
		})
		exec := n.Trigger(t, r.job(func(j *entity.Job) { j.Overlap = entity.OverlapSerial }).ID)[0]
		n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		quiet(t, n)
		require.Empty(t, n.InFlightFires(t, exec.JobID), "its place is given on")
		requireCode(t, r.report(n, exec.ID, 1, ended(entity.StatusSuccess)), apperror.KindConflict, "run_cancelled")
	})
}

// A node of the former release asks a run to stop that nobody holds.
func TestACancelOfAFormerReleaseIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(nil)
		exec, other := r.detached(r.one(), job.ID), r.detached(r.one(), job.ID)
		r.one().Write(t, func(ctx context.Context, tx repository.Tx) error {
			execs, err := tx.Executions.Lock(ctx, []string{exec.ID})
			if err != nil {
				return err
			}
			execs[0].CancelRequested, execs[0].Reason = true, entity.ReasonReplaced
			return tx.Executions.Update(ctx, execs[0], entity.StatusRunning, execs[0].Token)
		})
		n, err := r.nodes[1].Detached.SweepCancels(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusCancelled, entity.ReasonReplaced}, []any{got.Status, got.Reason})
		require.True(t, r.one().Execution(t, other.ID).Detached())
	})
}

// Limits count what is detached: the next one starts with its end.
func TestDetachedRunsCountAgainstLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		first := r.detached(r.one(), job.ID)
		second := r.nodes[1].Trigger(t, job.ID)[0]
		r.tasks()
		require.Equal(t, []any{entity.StatusWaiting, entity.WaitJob},
			[]any{r.one().Execution(t, second.ID).Status, r.one().Execution(t, second.ID).Claim.WaitsFor()})
		require.NoError(t, r.report(r.nodes[1], first.ID, 1, ended(entity.StatusFailed)))
		r.awaitDetached(second.ID, 1)

		discard := r.one().Add(t, enginetest.Job("discarding", func(j *entity.Job) {
			limited(0)(j)
			j.Overlap = entity.OverlapDiscard
		}))
		r.detached(r.one(), discard.ID)
		skipped := r.nodes[1].Trigger(t, discard.ID)[0]
		require.Equal(t, []any{entity.StatusSkipped, entity.ReasonOverlap}, []any{skipped.Status, skipped.Reason})
	})
}

// REPLACE ends a detached run in the transaction of the newer fire, with all
// that belongs to an end.
func TestANewerFireReplacesADetachedRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(func(j *entity.Job) { j.Overlap = entity.OverlapReplace })
		old := r.detached(r.one(), job.ID)
		r.one().Clock.Advance(3 * time.Second)
		newer := r.nodes[1].Trigger(t, job.ID)[0]
		got := r.one().Execution(t, old.ID)
		require.Equal(t, []any{entity.StatusCancelled, entity.ReasonReplaced, 3 * time.Second},
			[]any{got.Status, got.Reason, got.Duration})
		r.awaitDetached(newer.ID, 1)
		require.Len(t, r.one().InFlightFires(t, job.ID), 1)
		var finals int
		for _, e := range r.one().Events(t) {
			if strings.Contains(e.Payload, old.ID) {
				finals++
			}
		}
		require.Equal(t, 1, finals)
		requireCode(t, r.report(r.one(), old.ID, 1, ended(entity.StatusSuccess)), apperror.KindConflict, "run_cancelled")
	})
}

// The run of a broadcast belongs to its node for good, also while it is detached.
func TestADetachedBroadcastKeepsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(func(j *entity.Job) {
			limited(1)(j)
			j.Broadcast = true
		})
		execs := r.one().Trigger(t, job.ID)
		require.Len(t, execs, 2)
		r.nodes[1].Runner.RunsReady(entity.SlotGeneral)
		for i, exec := range execs {
			got := r.awaitDetached(exec.ID, 1)
			require.Equal(t, r.nodes[i].ID(), got.NodeID)
		}
		r.nodes[1].Die(t)
		_, err := r.one().Runner.Reap(t.Context(), r.nodes[1].ID(), 1<<40)
		require.NoError(t, err)
		require.True(t, r.one().Execution(t, execs[1].ID).Detached())
		require.NoError(t, r.report(r.one(), execs[1].ID, 1, ended(entity.StatusSuccess)))
		require.NoError(t, r.report(r.one(), execs[0].ID, 1, ended(entity.StatusFailed)))
		again := r.tryAgain(execs[0].ID, 2)
		require.Equal(t, r.one().ID(), again.NodeID)
		require.Len(t, r.one().Script.Runs(), 2)
	})
}

// A node that lost its lease leaves alone what is not its own.
func TestAFencedNodeDoesNotTouchDetachedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		exec := r.detached(r.one(), r.job(nil).ID)
		require.NoError(t, r.one().Runner.Fence(t.Context()))
		r.one().Runner.Adopt(2)
		for range 3 {
			require.NoError(t, r.one().Runner.Reconcile(t.Context()))
		}
		require.True(t, r.one().Execution(t, exec.ID).Detached())
		require.NoError(t, r.report(r.one(), exec.ID, 1, ended(entity.StatusSuccess)))
	})
}

// Of a deleted job nothing is repeated.
func TestADetachedRunOfADeletedJobIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(func(j *entity.Job) {
			limited(3)(j)
			j.Overlap = entity.OverlapSerial
		})
		exec := r.detached(r.one(), job.ID)
		r.delete(job.ID)
		require.NoError(t, r.report(r.nodes[1], exec.ID, 1, ended(entity.StatusFailed)))
		require.Equal(t, entity.StatusFailed, r.one().Execution(t, exec.ID).Status)
		require.Empty(t, r.one().InFlightFires(t, job.ID))
	})
}

// slowStore counts the transactions that issue tokens, and lets tests hold them.
type slowStore struct {
	repository.Store
	mu     sync.Mutex
	issued int
	hold   chan struct{}
	fail   error
}

// began is how many transactions have begun.
func (s *slowStore) began() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued
}

// answer sets how transactions end from now on; a call whose context has ended may still be in one.
func (s *slowStore) answer(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *slowStore) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	s.mu.Lock()
	s.issued++
	hold, fail := s.hold, s.fail
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if fail != nil {
		return fail
	}
	return s.Store.Write(ctx, lane, name, fn)
}

// Calls that are due together share a few transactions, and each gets its own answer.
func TestTokensAreIssuedTogether(t *testing.T) {
	r := newRig(t, 1)
	n := r.one()
	n.Script.Hold()
	job := r.job(nil)
	var runs []entity.Run
	for range 40 {
		n.Trigger(t, job.ID)
	}
	n.Script.Await(t, 40)
	for _, exec := range n.Executions(t, job.ID) {
		runs = append(runs, entity.Run{Job: job, Execution: exec})
	}
	stranger := *runs[0].Execution
	stranger.Epoch++
	store := &slowStore{Store: n.Store, hold: make(chan struct{})}
	issuer := detached.NewIssuer(store, enginetest.Keys(t, 0), n.Clock, n.Time)
	var wg sync.WaitGroup
	tokens := make([]string, len(runs))
	for i, run := range runs {
		wg.Go(func() {
			var err error
			if tokens[i], err = issuer.Issue(t.Context(), run); err != nil {
				t.Error(err)
			}
		})
		if i == 0 { // it is stored alone, and the others wait meanwhile
			enginetest.Await(t, func() bool { return store.began() == 1 }, "the store is asked")
		}
	}
	wg.Go(func() {
		_, err := issuer.Issue(t.Context(), entity.Run{Job: job, Execution: &stranger})
		if !errors.Is(err, entity.ErrStopLost) {
			t.Error("an attempt that is not its node's gets no token:", err)
		}
	})
	enginetest.Await(t, func() bool {
		return issuer.Waiting() == len(runs)
	}, "all but the first, and the stranger")
	close(store.hold)
	wg.Wait()
	require.Equal(t, 2, store.began())
	for i, run := range runs {
		require.NoError(t, n.Detached.Authorize(t.Context(), run.Execution.ID, tokens[i]))
	}
}

// While the store is away nothing is posted: nobody could report.
func TestATokenWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		n := r.one()
		n.Script.Hold()
		job := r.job(nil)
		n.Trigger(t, job.ID)
		n.Script.Await(t, 1)
		run := entity.Run{Job: job, Execution: n.Executions(t, job.ID)[0]}
		store := &slowStore{Store: n.Store, fail: apperror.Unavailable(errors.New("away"))}
		issuer := detached.NewIssuer(store, enginetest.Keys(t, 0), n.Clock, n.Time)
		ctx, cancel := context.WithCancel(t.Context())
		issued := make(chan error, 1)
		go func() {
			_, err := issuer.Issue(ctx, run)
			issued <- err
		}()
		tried := func(times int) func() bool {
			return func() bool {
				n.Clock.Advance(2 * time.Second)
				return store.began() >= times
			}
		}
		ended := func() bool {
			n.Clock.Advance(2 * time.Second)
			return len(issued) == 1
		}
		require.Eventually(t, tried(3), 20*time.Second, time.Millisecond)
		store.answer(nil)
		require.Eventually(t, ended, 20*time.Second, time.Millisecond)
		require.NoError(t, <-issued)

		store.answer(repository.ErrCommitUnknown)
		go func() {
			_, err := issuer.Issue(ctx, run)
			issued <- err
		}()
		require.Eventually(t, tried(store.began()+2), 20*time.Second, time.Millisecond)
		cancel()
		require.ErrorIs(t, <-issued, context.Canceled)

		store.answer(&repository.UnknownError{Err: errors.New("error 9003: busy")})
		begun := store.began()
		go func() {
			_, err := issuer.Issue(t.Context(), run)
			issued <- err
		}()
		require.Eventually(t, tried(begun+5), 20*time.Second, time.Millisecond, "an answer that nobody knows may pass")
		require.Eventually(t, ended, 20*time.Second, time.Millisecond)
		require.ErrorContains(t, <-issued, "error 9003: busy", "one that stays is told")

		store.answer(fmt.Errorf("a column is missing"))
		_, err := issuer.Issue(t.Context(), run)
		require.ErrorContains(t, err, "a column is missing", "what waiting does not mend is told")
	})
}

// An attempt stops when asked although the store is silent, whether it waits for its own transaction or for the one
// before. A node whose runs do not end must end itself.
func TestAnAttemptThatIsStoppedDoesNotWaitForASilentStore(t *testing.T) {
	r := newRig(t, 1)
	n := r.one()
	n.Script.Hold()
	job := r.job(nil)
	n.Trigger(t, job.ID)
	n.Trigger(t, job.ID)
	n.Script.Await(t, 2)
	store := &slowStore{Store: n.Store, hold: make(chan struct{})}
	issuer := detached.NewIssuer(store, enginetest.Keys(t, 0), n.Clock, n.Time)
	ctx, stop := context.WithCancelCause(t.Context())
	issued := make(chan error, 2)
	for i, exec := range n.Executions(t, job.ID) {
		go func() {
			_, err := issuer.Issue(ctx, entity.Run{Job: job, Execution: exec})
			issued <- err
		}()
		enginetest.Await(t, func() bool {
			return store.began() == 1 && issuer.Waiting() == i
		}, "it waits")
	}
	stop(entity.ErrStopLost)
	for range 2 {
		require.ErrorIs(t, <-issued, context.Canceled, "no attempt waits for the store")
	}
	close(store.hold)
	enginetest.Await(t, func() bool {
		return store.began() == 2 && issuer.Waiting() == 0
	}, "the rest is issued")
}
