package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// Work is what callers do to the cluster as a fault: too much at once, or what
// takes away the ground from under runs. Its calls go to any node, and are made
// again until they are answered; so what it has asked for is known. Safe for
// concurrent use.
type Work struct {
	rig    *rig.Rig
	client *crash.Client
	url    string
	// commands is the ledger of commands; empty: there are none.
	commands string

	number atomic.Int64

	mu         sync.Mutex
	jobs       []history.Job
	triggers   []history.Trigger
	unanswered int
	cancels    []string
}

// NewWork calls the nodes of a rig; its jobs call url.
func NewWork(r *rig.Rig, c *crash.Client, url, commands string) *Work {
	return &Work{rig: r, client: c, url: url, commands: commands}
}

// errUnsettled says that calls are answered, and jobs still do not know the limit of their group.
var errUnsettled = errors.New("it is not settled")

// The bounds of the work.
const (
	answerBound = 90 * time.Second
	// limitBound is how long it may take until all jobs of a group know its limit. That takes many calls
	// and transactions, and the next rounds of faults go on meanwhile.
	limitBound = 5 * time.Minute
	again      = 200 * time.Millisecond
	callers    = 8
)

// ask makes a call of some node until one answers.
func (w *Work) ask(ctx context.Context, call func(c *crash.Client) error) error {
	for until := time.Now().Add(answerBound); ; {
		m := w.rig.Members[rand.IntN(len(w.rig.Members))] //nolint:gosec // any node will do
		err := errAway
		if m.Up() {
			err = call(w.client.At(m.Base()))
		}
		var refused *crash.StatusError
		if err == nil || errors.As(err, &refused) && refused.Status != http.StatusServiceUnavailable &&
			refused.Status != http.StatusTooManyRequests {
			return err
		}
		if time.Now().After(until) || !rig.Sleep(ctx, again) {
			return err
		}
	}
}

var errAway = errors.New("the node is away")

// next is the number of the next piece of work, for its names.
func (w *Work) next() int64 { return w.number.Add(1) }

// job makes a job without a schedule. A first try that was not answered may have
// made it, too: it is another one of that name, that nobody triggers.
func (w *Work) job(ctx context.Context, j history.Job, body map[string]any) (history.Job, error) {
	j.Shards = 1
	tries := 0
	err := w.ask(ctx, func(c *crash.Client) error {
		tries++
		body["name"] = fmt.Sprintf("%s, try %d", j.Name, tries)
		body["schedule"] = map[string]any{"kind": "NONE"}
		if body["jobType"] == nil {
			body["jobType"] = "HTTP"
		}
		view, err := c.Create(ctx, body)
		j.ID = view.ID
		return err
	})
	if err != nil {
		return j, fmt.Errorf("create the job %q: %w", j.Name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, j)
	return j, nil
}

// update changes what the checker knows of a job.
func (w *Work) update(id string, change func(j *history.Job)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.jobs {
		if w.jobs[i].ID == id {
			change(&w.jobs[i])
		}
	}
}

// trigger runs a job by hand, once.
func (w *Work) trigger(ctx context.Context, job string) (execution string, err error) {
	key := fmt.Sprintf("work-%d", w.next())
	err = w.ask(ctx, func(c *crash.Client) error {
		execution, err = c.Trigger(ctx, job, key)
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	var refused *crash.StatusError
	switch {
	case err == nil:
		w.triggers = append(w.triggers, history.Trigger{Key: key, JobID: job, Execution: execution})
	case errors.As(err, &refused) && refused.Status == http.StatusConflict: // the API calls its outcome unknown
		w.unanswered++
		err = nil
	}
	return execution, err
}

// triggerAll runs a job by hand n times, by some callers at once.
func (w *Work) triggerAll(ctx context.Context, job string, n, by int) (executions []string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	left := atomic.Int64{}
	left.Store(int64(n))
	for range by {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				id, one := w.trigger(ctx, job)
				mu.Lock()
				err = errors.Join(err, one)
				if id != "" {
					executions = append(executions, id)
				}
				mu.Unlock()
				if one != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return executions, err
}

// add puts what was done into a history.
func (w *Work) add(h *history.History) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.Triggers = append(h.Triggers, w.triggers...)
	h.Unanswered += w.unanswered
	h.Cancels = append(h.Cancels, w.cancels...)
}

// made are the jobs that were made.
func (w *Work) made() []history.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]history.Job{}, w.jobs...)
}

// queueLength is how many runs wait when their job is deleted.
const queueLength = 200

// deleteQueue deletes a job while its runs wait for one another.
func (w *Work) deleteQueue(ctx context.Context) error {
	j, err := w.job(ctx, history.Job{Name: fmt.Sprintf("queue %d", w.next()), OneAtATime: true, Called: true},
		map[string]any{"jobData": w.call("fence&ms=700"), "overlapPolicy": "SERIAL", "maxQueued": 1000})
	if err != nil {
		return err
	}
	if _, err := w.triggerAll(ctx, j.ID, queueLength, callers); err != nil {
		return err
	}
	if err := w.ask(ctx, func(c *crash.Client) error { return c.Delete(ctx, j.ID) }); err != nil {
		return fmt.Errorf("delete %q: %w", j.Name, err)
	}
	now := time.Now()
	w.update(j.ID, func(j *history.Job) { j.Deleted = now })
	return nil
}

// razeEach is how long it is between two deletions of workflows.
const razeEach = 2 * time.Second

// raze deletes one workflow after another while their runs are open, until ctx ends.
func (t *Test) raze(ctx context.Context, w *Work) error {
	for t.Size.Flows && rig.Sleep(ctx, razeEach) {
		if err := w.deleteFlow(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// deleteFlow deletes a workflow while some runs of it are open.
func (w *Work) deleteFlow(ctx context.Context) error {
	job, body := crash.Passing(w.url, fmt.Sprintf("flow, passing %d", w.next()))
	j, err := w.job(ctx, job, body)
	if err != nil {
		return err
	}
	for range passingRuns {
		if _, err := w.trigger(ctx, j.ID); err != nil {
			return err
		}
		rig.Sleep(ctx, time.Duration(rand.IntN(300))*time.Millisecond) //nolint:gosec // any moment will do
	}
	if err := w.ask(ctx, func(c *crash.Client) error { return c.Delete(ctx, j.ID) }); err != nil {
		return fmt.Errorf("delete %q: %w", j.Name, err)
	}
	now := time.Now()
	w.update(j.ID, func(j *history.Job) { j.Deleted = now })
	return nil
}

// passingRuns is how many runs a workflow has that is deleted.
const passingRuns = 3

// burst runs more commands at once than all nodes have slots.
func (w *Work) burst(ctx context.Context) error {
	j, err := w.job(ctx, history.Job{
		Name: fmt.Sprintf("burst %d", w.next()), Called: true, Lines: true,
		CommandSlots: w.rig.CommandSlots,
	},
		map[string]any{"jobType": "COMMAND", "jobData": crash.CommandData(w.commands)})
	if err != nil {
		return err
	}
	_, err = w.triggerAll(ctx, j.ID, 8*w.rig.CommandSlots*len(w.rig.Members), callers)
	return err
}

// firstLimit bounds a group for the first time while its runs go on, and cancels
// some of them.
func (w *Work) firstLimit(ctx context.Context) error {
	const most = 2
	n := w.next()
	group := fmt.Sprintf("first-%d", n)
	err := w.ask(ctx, func(c *crash.Client) error {
		err := c.CreateGroup(ctx, group, 0)
		var refused *crash.StatusError
		if errors.As(err, &refused) && refused.Status == http.StatusConflict { // by a try that was not answered
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create the group %q: %w", group, err)
	}
	j, err := w.job(ctx, history.Job{Name: fmt.Sprintf("first limit %d", n), Group: group, Called: true},
		map[string]any{"group": group, "jobData": w.call("ms=900")})
	if err != nil {
		return err
	}
	runs, err := w.triggerAll(ctx, j.ID, 24, callers)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var cancelled error
	wg.Go(func() {
		for _, id := range runs[:len(runs)/2] {
			w.mu.Lock()
			w.cancels = append(w.cancels, id)
			w.mu.Unlock()
			err := w.ask(ctx, func(c *crash.Client) error { return c.Cancel(ctx, id) })
			var refused *crash.StatusError
			if err != nil && !errors.As(err, &refused) { // over already is what a cancel may meet
				cancelled = err
			}
		}
	})
	err = w.limit(ctx, group, most)
	wg.Wait()
	if err = errors.Join(err, cancelled); err != nil {
		return err
	}
	now := time.Now()
	w.update(j.ID, func(j *history.Job) { j.GroupAtMost, j.LimitFrom = most, now })
	_, err = w.triggerAll(ctx, j.ID, 12, callers)
	return err
}

// limit bounds a group and waits until all of its jobs know.
func (w *Work) limit(ctx context.Context, group string, most int) error {
	for until := time.Now().Add(limitBound); ; {
		var v crash.GroupView
		err := w.ask(ctx, func(c *crash.Client) (err error) {
			if v, err = c.Group(ctx, group); err == nil && v.MaxConcurrency != most {
				v, err = c.LimitGroup(ctx, group, most, v.Version)
			}
			return err
		})
		if err == nil && v.Settled {
			return nil
		}
		if time.Now().After(until) || !rig.Sleep(ctx, again) {
			return fmt.Errorf("the limit of the group %q is not known to its jobs within %s: %w", group, limitBound,
				cmp.Or(err, errUnsettled))
		}
	}
}

// flood has many callers run a small job on one node, as fast as it answers.
func (w *Work) flood(ctx context.Context, m *rig.Member, span time.Duration) error {
	j, err := w.job(ctx, history.Job{Name: fmt.Sprintf("flood %d", w.next()), Called: true},
		map[string]any{"jobData": w.call("ms=1")})
	if err != nil {
		return err
	}
	m.Store.SlowBy(slowWay)
	var wg sync.WaitGroup
	until := time.Now().Add(span)
	for range floodCallers {
		wg.Go(func() {
			for time.Now().Before(until) && rig.Sleep(ctx, again) {
				_, _ = w.client.At(m.Base()).Latest(ctx) // what it answers is seen by those that watch
			}
		})
	}
	_, err = w.triggerAll(ctx, j.ID, floodRuns, floodCallers)
	wg.Wait()
	m.Store.Set(rig.Pass)
	return err
}

// A flood: 40 callers that read, and as many that run a job.
const (
	floodCallers = 40
	floodRuns    = 20
	slowWay      = 200 * time.Millisecond
)

func (w *Work) call(query string) map[string]any {
	return map[string]any{"method": "GET", "url": w.url + "/?" + query}
}
