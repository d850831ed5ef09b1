package workflows

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// stepOf names a step of a run.
type stepOf struct{ run, step string }

// visit is what the handler of a step has seen.
type visit struct {
	entries       int
	entered, left time.Time
}

// seen are the entries of handlers of steps. Safe for concurrent use.
type seen struct {
	now func() time.Time

	mu     sync.Mutex
	visits map[stepOf]visit
	// repeated counts entries beyond the first one of a step.
	repeated int
}

func newSeen(now func() time.Time) *seen { return &seen{now: now, visits: map[stepOf]visit{}} }

// handle is the handler of all steps.
func (s *seen) handle(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	entered := s.now()
	id, step, ok := run.Execution.StepOf()
	if !ok {
		return entity.Failed(entity.ReasonInvalid, "the bench runs steps alone")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := stepOf{id, step}
	v := s.visits[at]
	if v.entries++; v.entries > 1 {
		s.repeated++
	} else {
		v.entered = entered
	}
	v.left = s.now()
	s.visits[at] = v
	return entity.Succeeded("")
}

// tally says how many of the planned steps were entered never, and how often one was entered again.
func (s *seen) tally(planned int) measure.Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	return measure.Tally{Planned: planned, Lost: planned - len(s.visits), Doubled: s.repeated}
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.visits)
}

// pace is how many edges a second there were, flat out: entries of steps that follow others.
func (s *seen) pace(d *wf.Definition) float64 {
	first := map[string]bool{}
	for i := range d.Steps {
		if len(d.Steps[i].Needs) == 0 && d.Steps[i].ForEach == nil {
			first[d.Steps[i].Name] = true
		}
	}
	var at []int64
	s.mu.Lock()
	for key, v := range s.visits {
		if !first[key.step] {
			at = append(at, v.entered.UnixMicro())
		}
	}
	s.mu.Unlock()
	return measure.PaceOf(at)
}

// edges are the times, in ms, from the end of a step's handler to the entry of the next one's, in chains and since a
// moment.
func (s *seen) edges(d *wf.Definition, since time.Time) *measure.Quantiles {
	var ms []float64
	s.mu.Lock()
	for key, v := range s.visits {
		for i := range d.Steps {
			step := &d.Steps[i]
			if step.Name != key.step || len(step.Needs) != 1 || v.entered.Before(since) {
				continue
			}
			if before, ok := s.visits[stepOf{key.run, step.Needs[0].Step}]; ok {
				ms = append(ms, v.entered.Sub(before.left).Seconds()*1000)
			}
		}
	}
	s.mu.Unlock()
	return measure.Summarize(ms)
}
