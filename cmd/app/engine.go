// Package app is the composition root: it wires the parts of a node, and starts and
// stops them.
package app

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Engine is a node without its REST edge: the store, the use cases and the
// loops. Make it with NewEngine, then Start, then Stop.
type Engine struct {
	*parts
	views

	// stopped is since when the node is on its way down, nil before.
	stopped atomic.Pointer[time.Time]
	// members are the loops of the member, which go on until the very last.
	members sync.WaitGroup
	loops   sync.WaitGroup
	// planning is the planner's loop. It ends before the runner drains: a fire
	// transaction in progress may still start runs.
	planning sync.WaitGroup
	// leading is the loop that stands for election.
	leading     sync.WaitGroup
	stopMembers context.CancelFunc
	stopLead    context.CancelFunc
	stopPlan    context.CancelFunc
	stopRun     context.CancelFunc
}

// parts are those of a node, each made from those before it. They hold no part that is
// made later: the literals that make them name no fields, so a part that is missing does not
// compile.
type parts struct {
	base
	storage
	cluster *cluster
	exports *exports
	self
	lead
	work
	useCases
	sending sending
	reactions
	alerts alerts
	monitored
	events   events
	Alerting Alerting
	// WorkerEdge has the parts of the routes of workers.
	WorkerEdge api.WorkerDeps
}

// NewEngine opens the store and wires the parts. Nothing runs before Start.
func NewEngine(ctx context.Context, cfg config.Config, o Options) (e *Engine, err error) {
	b, err := newBase(cfg, o)
	defer func() {
		if err != nil {
			e, err = nil, errors.Join(err, b.close())
		}
	}()
	if err != nil {
		return nil, err
	}
	added, raised, starts, runs := &signal{}, &signal{}, &signal{}, &signal{}
	x, err := openExports(b)
	if err != nil {
		return nil, err
	}
	s, err := openStorage(ctx, b, x, added.wake, func(kind entity.TodoKind) {
		switch kind {
		case entity.TodoNext:
			starts.wake()
		case entity.TodoRun:
			runs.wake()
		}
	})
	if err != nil {
		return nil, err
	}
	c, err := openCluster(ctx, b, s)
	if err != nil {
		return nil, err
	}
	n, err := register(ctx, b, s, c)
	if err != nil {
		return nil, err
	}
	l, err := newLead(b, s, c, n)
	if err != nil {
		return nil, err
	}
	w := newWork(b, s, c, x, n, l.tasks)
	starts.connect(w.follower.Wake)
	runs.connect(w.workflows.Wake)
	m, err := newSending(ctx, b, s, c, l.tasks, raised.wake)
	if err != nil {
		return nil, err
	}
	settings := newSettings(s, m)
	u := newUseCases(b, s, c, x, n, w, settings)
	r, err := newReactions(b, s, u, m)
	if err != nil {
		return nil, err
	}
	a := newAlerts(b, s, w, u, m, r, l.tasks)
	raised.connect(a.loop.Wake)
	p := &parts{
		b, s, c, x, n, l, w, u, m, r, a,
		newMonitored(b, s, x, w, a, added.wake), newEvents(b, s, x, l.tasks, a.loop), newAlerting(b, s, m, settings),
		newWorkerEdge(b, s, w.Gateway),
	}
	added.connect(p.eventsAdded)
	e = &Engine{parts: p, views: newViews(p)} //nolint:contextcheck // each scrape has a context of its own
	return e, e.addTasks()
}
