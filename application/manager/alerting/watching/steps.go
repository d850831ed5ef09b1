package watching

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// stepBack is how far behind the mark the store's time may be: nodes measure it.
	stepBack = 2 * time.Second
	// markEvery is how often the mark is moved.
	markEvery = 5 * time.Second
	// recheckFor is how long the leader looks at rows again after a step, each settleEvery. Nodes that have not measured
	// the step yet, and turns that had begun, still write moments from before it.
	recheckFor   = time.Minute
	recheckEvery = 3 * time.Second
	// staleAfter is how old the last look may be: another node may have led since.
	staleAfter = 10 * time.Second
)

// StepsDeps are the parts of a Steps.
type StepsDeps struct {
	Marks repository.StoreStates
	// PullBack: see repository.Alerts.
	PullBack func(ctx context.Context, now time.Time, plans bool) (rows int, err error)
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	Logger     *slog.Logger
	// Wake has alerts planned.
	Wake func()
}

// Steps finds out that the store's clock was set back. It then writes moments of alerting that lie ahead down to the
// present. Otherwise failures would count as known, and nothing would recover, for as long as the step was. The leader
// asks it before each turn. Safe for concurrent use.
type Steps struct {
	StepsDeps
	turn turns.Turn
	// mark is the mark in the store, greatest the greatest time that this node has seen.
	mark, greatest time.Time
	// looked is when this node last knew the mark to be right, in monotonic time; ok: it has known it.
	looked time.Duration
	ok     bool
	// recheckUntil is the end of the looks at rows after a step, settled the time of the last look.
	recheckUntil, rechecked time.Duration
}

// NewSteps wires the parts.
func NewSteps(d StepsDeps) *Steps { return &Steps{StepsDeps: d, turn: turns.NewTurn()} }

// Check compares the store's time with the mark. It costs a statement each five seconds, and
// nothing else while the clock goes on.
func (s *Steps) Check(ctx context.Context) error {
	if err := s.turn.Take(ctx); err != nil {
		return err
	}
	defer s.turn.Give()
	at := s.Clock.Monotonic()
	if !s.ok || at-s.looked > staleAfter {
		state, err := s.Marks.StoreState(ctx)
		if err != nil {
			return fmt.Errorf("read the mark of the store's clock: %w", err)
		}
		s.mark, s.ok = state.Mark, true
		if s.greatest.Before(s.mark) {
			s.greatest = s.mark
		}
	}
	s.looked = at
	now := s.StoreClock.Now().Truncate(time.Millisecond)
	switch {
	case now.Before(s.greatest.Add(-stepBack)):
		return s.steppedBack(ctx, now, at)
	case at < s.recheckUntil && at-s.rechecked >= recheckEvery:
		if _, err := s.pull(ctx, now, at, false); err != nil {
			return err
		}
	}
	if now.After(s.greatest) {
		s.greatest = now
	}
	if now.Sub(s.mark) < markEvery {
		return nil
	}
	return s.move(ctx, now)
}

// steppedBack writes the moments that lie ahead, and then the mark. If the leader dies in between, the next leader does
// it again.
func (s *Steps) steppedBack(ctx context.Context, now time.Time, at time.Duration) error {
	by := s.greatest.Sub(now)
	rows, err := s.pull(ctx, now, at, true)
	if err != nil {
		return err
	}
	if err := s.move(ctx, now); err != nil {
		return err
	}
	s.greatest, s.recheckUntil = now, at+recheckFor
	s.Logger.Warn("the store's clock was set back; alerts go on from its time, and the order of runs of the span that "+
		"repeats is unknown", "by", by.String(), "rows", rows)
	s.Wake()
	return nil
}

func (s *Steps) pull(ctx context.Context, now time.Time, at time.Duration, plans bool) (int, error) {
	rows, err := s.PullBack(ctx, now, plans)
	if err != nil {
		return rows, fmt.Errorf("write moments down after the store's clock was set back: %w", err)
	}
	s.rechecked = at
	return rows, nil
}

// move moves the mark. If somebody else has moved it, the next look reads it again.
func (s *Steps) move(ctx context.Context, to time.Time) error {
	moved, err := s.Marks.MoveStoreMark(ctx, s.mark, to)
	if s.ok = moved && err == nil; err != nil {
		return fmt.Errorf("move the mark of the store's clock: %w", err)
	}
	if moved {
		s.mark = to
	}
	return nil
}
