package running

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// firstPass is how long claims pass over a run that the store lets nobody take. The time doubles up to lastPass, and
	// begins anew after an hour without a refusal.
	firstPass = 10 * time.Second
	lastPass  = 10 * time.Minute
	// passForgotten is the time after its latest refusal at which a run is forgotten.
	passForgotten = time.Hour
	// maxPassed bounds the remembered runs. Each claim meets, and passes over, further ones anew.
	maxPassed = 200
)

// passed remembers the waiting runs that the store does not let this node take, although
// it works: claims leave them out for a while. Safe for concurrent use.
type passed struct {
	clock  clock.Clock
	logger *slog.Logger

	mu   sync.Mutex
	runs map[string]pass
	// suspect is the run that was refused alone so many times, each time while the store took the run behind it.
	suspect string
	times   int
	// resting was refused alone, without a witness; claims leave it out until the moment.
	resting string
	rests   time.Duration
}

// pass is what this node knows of one run, in monotonic time.
type pass struct {
	refused, until time.Duration
	pause          time.Duration
	cause          error
}

func newPassed(c clock.Clock, l *slog.Logger) *passed {
	return &passed{clock: c, logger: l, runs: map[string]pass{}}
}

// maxWitnessed is the number of refusals alone after which claims pass over a run.
const maxWitnessed = 2

// witnessed notes that the store refused a run while it took the one behind it.
func (p *passed) witnessed(exec *entity.Execution, cause error) {
	p.mu.Lock()
	if p.suspect != exec.ID {
		p.suspect, p.times = exec.ID, 0
	}
	p.times++
	blamed := p.times >= maxWitnessed
	p.mu.Unlock()
	if blamed {
		p.add(exec, cause)
	}
}

// rest leaves out, for a moment, a refused run with no other behind it. Otherwise each notification of another run
// would try it again.
func (p *passed) rest(exec *entity.Execution) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting, p.rests = exec.ID, p.clock.Monotonic()+claimInterval
}

// add passes over a run.
func (p *passed) add(exec *entity.Execution, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Monotonic()
	known, again := p.runs[exec.ID]
	if !again && len(p.runs) >= maxPassed {
		return
	}
	pause := firstPass
	if again {
		pause = min(2*known.pause, lastPass)
	}
	p.runs[exec.ID] = pass{refused: now, until: now + pause, pause: pause, cause: cause}
	if !again {
		p.logger.Error("the store lets nobody take a run; it waits, is tried again, and the others start",
			"execution", exec.ID, "job", exec.JobID, "error", cause)
	}
}

// now are the runs that a claim leaves out, in order.
func (p *passed) now() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) == 0 && p.resting == "" {
		return nil
	}
	now := p.clock.Monotonic()
	if now < p.rests {
		ids = append(ids, p.resting)
	} else {
		p.resting = ""
	}
	maps.DeleteFunc(p.runs, func(_ string, r pass) bool { return now-r.refused > passForgotten })
	for id, r := range p.runs {
		if now < r.until && id != p.resting {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// forget drops runs that were taken after all.
func (p *passed) forget(execs []*entity.Execution) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) == 0 && p.suspect == "" {
		return
	}
	for _, exec := range execs {
		delete(p.runs, exec.ID)
		if p.suspect == exec.ID {
			p.suspect = ""
		}
	}
}

// PassedOver says which runs the store does not let this node take, for people; empty: none.
func (t *TaskManager) PassedOver() string {
	p := t.passed
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n, latest := p.clock.Monotonic(), 0, ""
	for id, r := range p.runs {
		if now-r.refused > lastPass+claimInterval {
			continue
		}
		if n++; latest == "" || r.refused > p.runs[latest].refused {
			latest = id
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d waiting runs cannot begin on this node, because the store refuses their change; "+
		"one is execution %s: %v", n, latest, p.runs[latest].cause)
}
