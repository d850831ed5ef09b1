// Package trial runs a draft of a job once, on the node that is asked, and records nothing
// of it: no execution, no statistics, no alert (docs/adr/0008-trial-of-a-draft.md).
package trial

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// MaxTime bounds a trial, because its caller waits for the answer.
	MaxTime = 30 * time.Second
	// AtOnce is how many trials a node runs at once. They take none of its slots.
	AtOnce = 4
	// UserAtOnce is how many of them one user has.
	UserAtOnce = 2
	// busySec is when a caller may come again to a node that stops.
	busySec = 5
	// maxResult and maxMessage are those of stored runs, in bytes.
	maxResult  = 64<<10 - 1
	maxMessage = 4 << 10
	// draftID stands for the id of the job in placeholders.
	draftID = "trial"
)

// Runner runs attempts by the executors of this node. It is safe for concurrent use.
type Runner interface {
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// Checker says what is wrong with a draft and with the params of its run, all at once. It returns
// the params in their declared types, and fills the defaults of the draft in.
type Checker interface {
	CheckDraft(ctx context.Context, job *entity.Job, given string) (params string, err error)
}

// Deps are the parts of Trials.
type Deps struct {
	Checker Checker
	// Runner is nil on a node that runs no jobs.
	Runner     Runner
	Clock      clock.Clock
	StoreClock clock.StoreClock
	NodeID     string
	// Refused is told of each call that is refused, because too many run; nil is nobody.
	Refused func()
}

// Result is what a trial came to.
type Result struct {
	NodeID  string
	Start   time.Time
	Took    time.Duration
	Outcome entity.Outcome
	Log     []Line
	// Truncated: the log had more than is kept of it.
	Truncated bool
}

// Trials runs drafts. Safe for concurrent use.
type Trials struct {
	Deps
	gate *admit.Gate
	// stopping is closed when the node stops; running are the trials under way.
	stopping chan struct{}
	running  sync.WaitGroup
	mu       sync.Mutex
	stopped  bool
}

// New wires the parts. Stop ends what runs.
func New(d Deps) *Trials {
	return &Trials{Deps: d, stopping: make(chan struct{}), gate: admit.New(admit.Bounds{
		What: "trials", Code: "too_many_trials", User: UserAtOnce, Node: AtOnce, Refused: d.Refused,
	})}
}

// Run runs a draft until it ends, its time is over, the caller goes away or the node stops. A
// draft that is wrong is refused with all that is wrong, before it runs. At most AtOnce run at
// once on a node, and UserAtOnce of one user; more are refused and may come again.
func (t *Trials) Run(ctx context.Context, userID string, job *entity.Job, given string) (*Result, error) {
	if t.Runner == nil {
		return nil, apperror.New(apperror.KindUnavailable, "no_executor",
			"this node runs no jobs: ask a node with the role executor")
	}
	params, err := t.Checker.CheckDraft(ctx, job, given)
	if err != nil {
		return nil, err
	}
	if job.Routing.Workers != "" {
		return nil, apperror.InvalidField(
			"routing.workers",
			"runs_on_workers",
			"a draft runs on this node, and the job runs "+
				"on workers: store it, and trigger it with params",
		)
	}
	leave, err := t.enter(userID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return t.run(ctx, job, params), nil
}

// enter takes one of the places.
func (t *Trials) enter(userID string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return nil, &apperror.Error{
			Kind: apperror.KindUnavailable, Code: "stopping", Message: "this node stops: ask another one",
			RetryAfterSec: busySec,
		}
	}
	left, err := t.gate.Enter(userID)
	if err != nil {
		return nil, err
	}
	t.running.Add(1)
	return func() {
		left()
		t.running.Done()
	}, nil
}

func (t *Trials) run(ctx context.Context, draft *entity.Job, params string) *Result {
	start, began := t.StoreClock.Now(), t.Clock.Monotonic()
	job := *draft
	job.ID = draftID
	limit := t.limit(&job)
	run := entity.Run{Job: &job, Deadline: start.Add(limit), Execution: &entity.Execution{
		ID: identity.RandomID(start), JobID: draftID, Status: entity.StatusRunning, Trigger: entity.TriggerManual,
		ScheduledTime: start, DueTime: start, CreateTime: start, StartTime: start, NodeID: t.NodeID,
		Attempt: 1, Token: 1, ShardTotal: 1, Params: params,
	}}
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := t.Clock.NewTimer(limit)
	defer timer.Stop()
	go func() {
		select {
		case <-timer.C():
			cancel(entity.ErrStopTimeout)
		case <-t.stopping:
			cancel(entity.ErrStopShutdown)
		case <-bounded.Done():
		}
	}()
	log := &transcript{now: t.StoreClock.Now, returned: map[entity.LogType]int{}}
	outcome := t.Runner.Run(bounded, run, log)
	if outcome.Status == entity.StatusWaiting {
		outcome = entity.Failed(entity.ReasonError, outcome.Message)
	}
	outcome.Message = validation.Text(outcome.Message, maxMessage)
	outcome.Result = validation.Text(outcome.Result, maxResult)
	r := &Result{NodeID: t.NodeID, Start: start, Took: t.Clock.Monotonic() - began, Outcome: outcome}
	r.Log, r.Truncated = log.end()
	return r
}

// limit is how long the draft may run: its own time-out, if that is less than MaxTime.
func (t *Trials) limit(job *entity.Job) time.Duration {
	if own := job.Timeout(); own > 0 {
		return min(own, MaxTime)
	}
	return MaxTime
}

// Stop ends the trials and returns when none is left, or when ctx ends: a handler may ignore that
// it is to stop. None begins after it.
func (t *Trials) Stop(ctx context.Context) {
	t.mu.Lock()
	if !t.stopped {
		t.stopped = true
		close(t.stopping)
	}
	t.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		t.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
