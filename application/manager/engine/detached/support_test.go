package detached_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// No goroutine of a node outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// targets accept every run, and keep the tokens that they were given.
type targets struct {
	mu     sync.Mutex
	tokens map[string][]string
}

// Reply implements enginetest.Reply.
func (g *targets) Reply(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	token, err := run.Tokens.Issue(ctx, run)
	if err != nil {
		return entity.Failed(entity.ReasonError, err.Error())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens[run.Execution.ID] = append(g.tokens[run.Execution.ID], token)
	return entity.Accepted()
}

// token is that of an attempt.
func (g *targets) token(id string, attempt int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens[id][attempt-1]
}

// rig is nodes on one store whose runs are accepted by targets.
type rig struct {
	*targets
	t     *testing.T
	nodes []*enginetest.Node
	stops []func()
}

// newRig starts so many nodes on a SQLite store.
func newRig(t *testing.T, nodes int) *rig {
	t.Helper()
	return rigOn(t, dbtest.SQLite(t), nodes)
}

func rigOn(t *testing.T, cfg persistence.Config, nodes int) *rig {
	t.Helper()
	r := restingRig(t, cfg, nodes)
	r.start(r.nodes...)
	return r
}

// firstAtWork is a rig whose first node alone claims runs; the others take reports.
func firstAtWork(t *testing.T, nodes int) *rig {
	t.Helper()
	r := restingRig(t, dbtest.SQLite(t), nodes)
	r.start(r.one())
	return r
}

func restingRig(t *testing.T, cfg persistence.Config, nodes int) *rig {
	t.Helper()
	clock := clocktest.NewManual(enginetest.Noon)
	cfg.Clock = clock
	r := &rig{targets: &targets{tokens: map[string][]string{}}, t: t}
	options := enginetest.Options{Clock: clock}
	first := enginetest.On(t, dbtest.Open(t, cfg), options)
	r.nodes = first.Join(t, make([]enginetest.Options, nodes-1)...)
	for _, n := range r.nodes {
		n.Script.Reply(r.Reply)
	}
	return r
}

func (r *rig) start(nodes ...*enginetest.Node) {
	r.t.Helper()
	for _, n := range nodes {
		r.stops = append(r.stops, n.Start(r.t))
	}
}

// one is the node of a rig with one.
func (r *rig) one() *enginetest.Node { return r.nodes[0] }

const limit = time.Minute

// limited is a job with a time limit and so many retries.
func limited(retries int) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.TimeoutSec = int(limit / time.Second)
		j.Retry.MaxRetries, j.Retry.IntervalMs, j.Retry.Jitter = retries, 1000, 0
	}
}

func (r *rig) job(change func(j *entity.Job)) *entity.Job {
	r.t.Helper()
	return r.one().Add(r.t, enginetest.Job("asynchronous", func(j *entity.Job) {
		limited(0)(j)
		if change != nil {
			change(j)
		}
	}))
}

// detached triggers a job on a node and waits until its run is detached.
func (r *rig) detached(n *enginetest.Node, jobID string) *entity.Execution {
	r.t.Helper()
	execs := n.Trigger(r.t, jobID)
	require.Len(r.t, execs, 1)
	return r.awaitDetached(execs[0].ID, 1)
}

// awaitDetached waits until an attempt was accepted by its target.
func (r *rig) awaitDetached(id string, attempt int) *entity.Execution {
	r.t.Helper()
	enginetest.Await(r.t, func() bool {
		exec := r.one().Execution(r.t, id)
		return exec.Detached() && exec.Attempt == attempt
	}, "attempt %d of %s is detached", attempt, id)
	return r.one().Execution(r.t, id)
}

// says is a report that goes on.
func says(lines ...string) entity.RunReport { return entity.RunReport{Progress: -1, Lines: lines} }

// report sends a report of an attempt to a node.
func (r *rig) report(n *enginetest.Node, id string, attempt int, report entity.RunReport) error {
	r.t.Helper()
	return n.Detached.Report(r.t.Context(), id, r.token(id, attempt), report)
}

func ended(status entity.Status) entity.RunReport {
	return entity.RunReport{Progress: -1, Status: status, Message: "no stock"}
}

// tryAgain lets the back-off after an attempt pass, and waits for the next one.
// Time goes on while it waits: a claim passes over a run that the sweep of another
// node holds at that moment, and the next claim is a matter of time.
func (r *rig) tryAgain(id string, next int) *entity.Execution {
	r.t.Helper()
	r.one().Clock.Advance(2 * time.Second)
	enginetest.Await(r.t, func() bool {
		_, err := r.one().Repairs.PromoteScheduled(r.t.Context())
		require.NoError(r.t, err)
		exec := r.one().Execution(r.t, id)
		if exec.Detached() && exec.Attempt == next {
			return true
		}
		r.one().Clock.Advance(10 * time.Millisecond)
		return false
	}, "attempt %d of %s is detached", next, id)
	return r.one().Execution(r.t, id)
}

// lines are the log of a run, in order.
func (r *rig) lines(id string) (out []entity.LogChunk) {
	r.t.Helper()
	return logOf(r.t, r.one(), id)
}

func requireCode(t *testing.T, err error, kind apperror.Kind, code string) {
	t.Helper()
	var f *apperror.Error
	require.True(t, errors.As(err, &f), "%v", err)
	require.Equal(t, []any{kind, code}, []any{f.Kind, f.Code}, "%v", err)
}

const conflict = apperror.KindConflict

// delete marks a job as deleted, as the service does.
func (r *rig) delete(jobID string) {
	r.t.Helper()
	r.nodes[len(r.nodes)-1].Write(r.t, func(ctx context.Context, tx repository.Tx) error {
		j, err := tx.Jobs.LockFull(ctx, jobID)
		if err != nil {
			return err
		}
		j.Version++
		return tx.Jobs.Update(ctx, j, true)
	})
}

func logOf(t *testing.T, n *enginetest.Node, id string) []entity.LogChunk {
	t.Helper()
	chunks, err := n.Store.Logs(t.Context(), repository.LogPage{ExecutionID: id})
	require.NoError(t, err)
	return chunks
}
