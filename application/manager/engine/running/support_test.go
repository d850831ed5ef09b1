package running_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// No goroutine of a node outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startedNode is a node whose loops run.
func startedNode(t *testing.T, o enginetest.Options) *enginetest.Node {
	t.Helper()
	n := enginetest.New(t, o)
	n.Start(t)
	return n
}

// trigger records a fire by hand as the service does, without the free slots of its group and
// without telling the node's loops, and returns what they must be told.
func trigger(t *testing.T, n *enginetest.Node, jobID string) ([]*entity.Execution, commit.PostCommit) {
	t.Helper()
	var a admission.Admission
	now := n.Time.Now()
	fire := entity.ExtraFire(entity.TriggerManual, now, now, now, "")
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{jobID})
		if err != nil {
			return err
		}
		job := jobs[jobID]
		if a, err = n.Admitter.AdmitAll(ctx, tx, now, job, fire); err != nil {
			return err
		}
		if err := tx.Executions.Insert(ctx, a.Executions); err != nil {
			return err
		}
		if len(a.InFlightFires) > 0 {
			if err := tx.InFlightFires.Insert(ctx, a.InFlightFires); err != nil {
				return err
			}
		}
		return tx.Jobs.Advance(ctx, []repository.JobAdvance{repository.AdvanceOf(job, time.Time{})})
	})
	return a.Executions, a.PostCommit
}

// waitingRun adds a run that nobody has been told of yet.
func waitingRun(t *testing.T, n *enginetest.Node, jobID string) *entity.Execution {
	t.Helper()
	execs, _ := trigger(t, n, jobID)
	require.Len(t, execs, 1)
	return execs[0]
}

// startRun triggers a job of one shard and tells the node.
func startRun(t *testing.T, n *enginetest.Node, jobID string) *entity.Execution {
	t.Helper()
	execs, effect := trigger(t, n, jobID)
	require.Len(t, execs, 1)
	n.Commits.AfterCommit(effect)
	return execs[0]
}

// retrying is a job with that many retries, ten seconds apart.
func retrying(retries int) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Retry.MaxRetries, j.Retry.IntervalMs = retries, retryWait.Milliseconds()
	}
}

const retryWait = 10 * time.Second

// awaitRetry waits until an attempt has ended and another one is to follow.
func awaitRetry(t *testing.T, n *enginetest.Node, id string, attempt int) *entity.Execution {
	t.Helper()
	enginetest.Await(t, func() bool {
		exec := n.Execution(t, id)
		return exec.Status == entity.StatusWaiting && exec.Attempt == attempt
	}, "attempt %d ends and is to be repeated", attempt)
	return n.Execution(t, id)
}

// tryAgain lets the back-off after an attempt pass.
func tryAgain(t *testing.T, n *enginetest.Node, id string, attempt int) {
	t.Helper()
	awaitRetry(t, n, id, attempt)
	n.Clock.Advance(retryWait)
	_, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
}

// eventually polls for something that must happen while the clock goes on in
// small steps, as intervals and waits for the store need it.
func eventually(t *testing.T, n *enginetest.Node, what string, happened func() bool) {
	t.Helper()
	n.Pass(t, happened, what)
}

// awaitIdle waits until every slot is free again.
func awaitIdle(t *testing.T, n *enginetest.Node) {
	t.Helper()
	enginetest.Await(t, func() bool { running, _ := n.Runner.Load(entity.SlotGeneral); return running == 0 },
		"all slots are given back")
}

// linesOf are the stored log chunks of a run that have a type.
func linesOf(t *testing.T, n *enginetest.Node, id string, kind entity.LogType) []entity.LogChunk {
	t.Helper()
	chunks, err := n.Store.Logs(t.Context(), repository.LogPage{ExecutionID: id, Limit: 1000})
	require.NoError(t, err)
	var out []entity.LogChunk
	for _, c := range chunks {
		if c.Type == kind {
			out = append(out, c)
		}
	}
	return out
}

func attemptsOf(t *testing.T, n *enginetest.Node, id string) []entity.Attempt {
	t.Helper()
	attempts, err := n.Store.Executions.Attempts(t.Context(), id)
	require.NoError(t, err)
	return attempts
}

func deadLettersOf(t *testing.T, n *enginetest.Node, jobID string) []entity.DeadLetter {
	t.Helper()
	letters, _, err := n.Store.DeadLetters(t.Context(), repository.DeadLetterFilter{JobID: jobID},
		repository.Page{Limit: 100})
	require.NoError(t, err)
	return letters
}

// liveFiresOf are the slots that a job's fires hold or wait for.
func liveFiresOf(t *testing.T, n *enginetest.Node, jobID string) []entity.InFlightFire {
	t.Helper()
	return n.InFlightFires(t, jobID)
}

// changeRow changes a stored run as another node would.
func changeRow(t *testing.T, n *enginetest.Node, id string, change func(exec *entity.Execution)) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		exec := execs[0]
		status, token := exec.Status, exec.Token
		change(exec)
		return tx.Executions.Update(ctx, exec, status, token)
	})
}

// deleteJob deletes a job's definition, whatever runs.
func deleteJob(t *testing.T, n *enginetest.Node, id string) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		j, err := tx.Jobs.LockFull(ctx, id)
		if err != nil {
			return err
		}
		j.NextFireTime, j.DueTime = time.Time{}, time.Time{}
		return tx.Jobs.Update(ctx, j, true)
	})
}

// inTurn plays one outcome per attempt, the last one again and again.
func inTurn(n *enginetest.Node, outcomes ...entity.Outcome) {
	n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		return outcomes[min(run.Execution.Attempt, len(outcomes))-1]
	})
}

func timedOut() entity.Outcome {
	return entity.Outcome{Status: entity.StatusTimeout, Reason: entity.ReasonTimeout, Message: "too slow"}
}

func failed() entity.Outcome { return entity.Failed(entity.ReasonError, "it broke") }

// ranJobs are the ids of the jobs whose runs began, in order.
func ranJobs(n *enginetest.Node) []string {
	var ids []string
	for _, run := range n.Script.Runs() {
		ids = append(ids, run.Job.ID)
	}
	return ids
}

// readAfter does something just before executions are read by id.
type readAfter struct {
	repository.ExecutionReader
	first func()
}

func (r readAfter) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	r.first()
	return r.ExecutionReader.ByIDs(ctx, ids)
}

// unreadableOnce fails to load definitions for the first time.
type unreadableOnce struct {
	running.Jobs
	asked     atomic.Bool
	meanwhile func()
}

func (u *unreadableOnce) For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error) {
	if !u.asked.Swap(true) {
		u.meanwhile()
		return nil, apperror.Unavailable(errors.New("definitions cannot be read"))
	}
	return u.Jobs.For(ctx, execs)
}

// batchSizes notes how many ends each completion transaction took.
type batchSizes struct {
	completion.Metrics
	mu    sync.Mutex
	sizes []int
}

func (b *batchSizes) CompleteBatch(runs int, took time.Duration) {
	b.mu.Lock()
	b.sizes = append(b.sizes, runs)
	b.mu.Unlock()
	b.Metrics.CompleteBatch(runs, took)
}

func (b *batchSizes) all() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sizes)
}

// unreadableExecutions fails to read executions by id for a while.
type unreadableExecutions struct {
	repository.ExecutionReader
	away atomic.Bool
}

func (u *unreadableExecutions) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	if u.away.Load() {
		return nil, apperror.Unavailable(errors.New("rows cannot be read"))
	}
	return u.ExecutionReader.ByIDs(ctx, ids)
}

// tellingClaims tells whenever the claim index was asked for ready runs.
type tellingClaims struct {
	repository.ClaimReader
	asked chan<- struct{}
}

func (c tellingClaims) Last(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	last, err := c.ClaimReader.Last(ctx, lo, hi)
	c.asked <- struct{}{}
	return last, err
}
