package monitoring

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// usualJobs bounds the jobs that Usual remembers: some 10 MB.
	usualJobs = 10_000
	// usualFor is how long it remembers one. A baseline changes with a run, and little.
	usualFor = time.Minute
)

// UsualDeps are the parts of a Usual.
type UsualDeps struct {
	Baselines repository.BaselineReader
	Clock     clock.Clock
	// Zone is that of hours and weekdays of baselines: the same as the fold's.
	Zone   *time.Location
	Logger *slog.Logger
}

// Usual tells a node what is usual for the jobs that it runs. It remembers the 10,000
// jobs that were asked for last, for a minute each. Safe for concurrent use.
type Usual struct {
	UsualDeps

	mu sync.Mutex
	// known are elements of used, whose values are *usualJob; the last one used is in front.
	known map[string]*list.Element
	used  *list.List
}

// usualJob is the baseline of a job as it was read at a moment of the monotonic clock; nil: it has none. Nobody changes
// a baseline that is here.
type usualJob struct {
	job   string
	state *baseline.State
	read  time.Duration
}

// NewUsual wires the parts.
func NewUsual(d UsualDeps) *Usual {
	return &Usual{UsualDeps: d, known: map[string]*list.Element{}, used: list.New()}
}

// Load reads the baselines of those jobs that are not remembered, in one read. A caller that asks for several jobs
// calls it first.
func (u *Usual) Load(ctx context.Context, jobs []string) error {
	var ask []repository.BinaryID
	for _, job := range jobs {
		if id, ok := identity.Bytes(job); ok && !u.has(job) {
			ask = append(ask, id)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	stored, err := u.Baselines.BaselinesOf(ctx, ask)
	if err != nil {
		return fmt.Errorf("read what is usual for %d jobs: %w", len(ask), err)
	}
	for _, id := range ask {
		u.remember(identity.Text(id), u.decoded(id, stored[id].Data))
	}
	return nil
}

// Running compares the age of a run of a job with the usual: see baseline.State.JudgeRunning. start is in any zone.
func (u *Usual) Running(ctx context.Context, job string, start time.Time, age time.Duration) (
	f baseline.Finding, found bool, err error,
) {
	state, err := u.of(ctx, job)
	if err != nil || state == nil {
		return f, false, err
	}
	f, found = state.EvaluateRunning(start.In(u.Zone), age)
	return f, found, nil
}

// AtRisk tells whether a run will miss its deadline: see baseline.State.AtRisk. start is in any zone.
func (u *Usual) AtRisk(ctx context.Context, job string, start, now, deadline time.Time) (
	f baseline.Finding, found bool, err error,
) {
	state, err := u.of(ctx, job)
	if err != nil || state == nil {
		return f, false, err
	}
	f, found = state.AtRisk(start.In(u.Zone), now, deadline)
	return f, found, nil
}

// of is the baseline of a job, for reading; nil: it has none.
func (u *Usual) of(ctx context.Context, job string) (*baseline.State, error) {
	if err := u.Load(ctx, []string{job}); err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.known[job]; e != nil {
		return e.Value.(*usualJob).state, nil
	}
	return nil, nil
}

// has tells whether a job is remembered, and counts as using it.
func (u *Usual) has(job string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.known[job]
	if e == nil || u.Clock.Monotonic()-e.Value.(*usualJob).read >= usualFor {
		return false
	}
	u.used.MoveToFront(e)
	return true
}

func (u *Usual) remember(job string, state *baseline.State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.known[job]; e != nil {
		u.used.Remove(e)
	}
	u.known[job] = u.used.PushFront(&usualJob{job, state, u.Clock.Monotonic()})
	if u.used.Len() > usualJobs {
		last := u.used.Back()
		delete(u.known, u.used.Remove(last).(*usualJob).job)
	}
}

// decoded is a baseline as it is stored; nil where there is none, or it cannot be read.
func (u *Usual) decoded(id repository.BinaryID, data []byte) *baseline.State {
	if len(data) == 0 {
		return nil
	}
	state, err := baseline.Decode(data)
	if err != nil { // the fold begins it anew with the next run
		u.Logger.Warn("what is usual for a job cannot be read", "job", identity.Text(id), "error", err)
		return nil
	}
	return state
}
