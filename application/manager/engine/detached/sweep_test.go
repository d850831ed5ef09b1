package detached_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// shelf is the detached runs of a store, in the order of their keys, of which
// some cannot be ended.
type shelf struct {
	repository.ClaimReader

	execs  []*entity.Execution
	broken func(exec *entity.Execution) error
	tried  map[string]int
}

func (s *shelf) Range(_ context.Context, q repository.ClaimRange) (out []*entity.Execution, err error) {
	for _, exec := range s.execs {
		past := exec.Claim > q.Lo || exec.Claim == q.Lo && exec.ID > q.AfterID
		if past && exec.Claim < q.Hi && len(out) < q.Limit {
			out = append(out, exec)
		}
	}
	return out, nil
}

func (s *shelf) For(context.Context, []*entity.Execution) (entity.Definitions, error) {
	return entity.Definitions{}, nil
}

func (s *shelf) Conclude(_ context.Context, ends []completion.End) (taken []bool, err error) {
	for _, end := range ends {
		exec := end.Run.Execution
		s.tried[exec.ID]++
		cause := s.broken(exec)
		taken = append(taken, cause == nil)
		if err = errors.Join(err, cause); cause == nil {
			s.execs = slices.DeleteFunc(s.execs, func(x *entity.Execution) bool { return x.ID == exec.ID })
		}
	}
	return taken, err
}

// More runs than a sweep takes at once, and none of them can be ended: those
// behind them are.
func TestRunsThatCannotBeEndedHoldUpNoOthers(t *testing.T) {
	broken := errors.New("a row that the store does not take")
	for name, apart := range map[string]time.Duration{"of one moment": 0, "of many": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{tried: map[string]int{}, broken: func(exec *entity.Execution) error {
				if exec.JobID == "broken" {
					return broken
				}
				return nil
			}}
			for i := range 600 {
				at := enginetest.Noon.Add(time.Duration(i) * apart)
				s.execs = append(s.execs, &entity.Execution{
					ID: fmt.Sprintf("broken-%03d", i), JobID: "broken",
					Status: entity.StatusRunning, Claim: entity.DetachedKey(at),
				})
			}
			for i := range 700 {
				s.execs = append(s.execs, &entity.Execution{
					ID: fmt.Sprintf("good-%03d", i), Status: entity.StatusRunning,
					Claim: entity.DetachedKey(enginetest.Noon.Add(time.Second)),
				})
			}
			m := detached.New(detached.Deps{
				Claims: s, Jobs: s, Runner: s,
				Clock: clocktest.NewManual(enginetest.Noon.Add(time.Minute)),
			})
			n, err := m.SweepDeadlines(t.Context())
			require.ErrorIs(t, err, broken)
			require.Equal(t, []any{700, 600}, []any{n, len(s.execs)})
			for id, tries := range s.tried {
				require.LessOrEqual(t, tries, 2, id)
			}
		})
	}
}

// An error that says nothing of the runs ends the sweep: the next one comes soon.
func TestASweepEndsWhenTheStoreIsAway(t *testing.T) {
	away := apperror.Unavailable(errors.New("no connection"))
	s := &shelf{tried: map[string]int{}, broken: func(*entity.Execution) error { return away }}
	for i := range 600 {
		s.execs = append(s.execs, &entity.Execution{
			ID: fmt.Sprint(i), Status: entity.StatusRunning,
			Claim: entity.DetachedKey(enginetest.Noon),
		})
	}
	m := detached.New(detached.Deps{
		Claims: s, Jobs: s, Runner: s,
		Clock: clocktest.NewManual(enginetest.Noon.Add(time.Minute)),
	})
	_, err := m.SweepDeadlines(t.Context())
	require.ErrorIs(t, err, away)
	require.Len(t, s.tried, 500)
}
