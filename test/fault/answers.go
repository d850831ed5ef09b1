package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// answeredFor is how long a store answers by a rule; answeredAtMost is how long a rule waits for a statement that it
// meets, as that of one job may be sent by another node meanwhile.
const (
	answeredFor    = 2 * time.Second
	answeredAtMost = 6 * time.Second
)

// Extents of an answer.
const (
	extentOnce = iota
	extentSpan
	extentRow
)

// answers is where an answer is given, and how far it reaches.
type answers struct {
	place  answer.Place
	extent int
}

var answersOf = map[Kind]answers{
	RefusedOnce: {answer.Statement, extentOnce},
	RefusedFor:  {answer.Statement, extentSpan},
	RefusedRow:  {answer.Statement, extentRow},
	InsteadOnce: {answer.InsteadOfCommit, extentOnce},
	InsteadFor:  {answer.InsteadOfCommit, extentSpan},
	InsteadRow:  {answer.InsteadOfCommit, extentRow},
	AfterOnce:   {answer.AfterCommit, extentOnce},
	AfterFor:    {answer.AfterCommit, extentSpan},
	AfterRow:    {answer.AfterCommit, extentRow},
}

// answer answers in the stead of the store, and reports whether there was something to answer.
func (s *Striker) answer(ctx context.Context, b Blow, members []*rig.Member) bool {
	of := answersOf[b.Kind]
	rule := rig.Answers{Place: of.place, Number: answer.Numbers()[b.Number]}
	switch of.extent {
	case extentOnce:
		rule.Times = 1
	case extentRow:
		rule.Row = s.firing()
	}
	given := func() (n int) {
		for _, m := range members {
			n += m.Store.Given()
		}
		return n
	}
	for _, m := range members {
		m.Store.Answer(&rule)
	}
	for began := time.Now(); rig.Sleep(ctx, 10*time.Millisecond); {
		took, met := time.Since(began), given() > 0
		if met && rule.Times > 0 || took > b.For && met || took > answeredAtMost {
			break
		}
	}
	met := given() > 0
	for _, m := range members {
		m.Store.Answer(nil)
	}
	return met
}

// firing is the id of a job that fires often.
func (s *Striker) firing() string {
	for {
		j := s.jobs[rand.IntN(len(s.jobs))] //nolint:gosec // any of them will do
		if j.Step > 0 && j.Step <= 2*time.Second {
			return j.ID
		}
	}
}
