package firing

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// silentGroups answers when the test says so.
type silentGroups struct {
	answer chan struct{}
	asked  int
}

func (g *silentGroups) DivergedGroups(ctx context.Context) ([]entity.Group, error) {
	g.asked++
	select {
	case <-g.answer:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A store that is silent holds up neither the call that changes a group, nor a batch longer than it may wait. What was
// read before the change is old.
func TestASilentReadOfGroupsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &silentGroups{answer: make(chan struct{})}
		m := &JobManager{
			Deps: Deps{Clock: clock.NewSystem(), Groups: g}, pauses: groupPauses{reading: turns.NewTurn()},
		}
		first := make(chan error)
		go func() { _, err := m.pausedGroups(t.Context()); first <- err }()
		synctest.Wait()
		m.GroupsChanged()
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.pausedGroups(bounded)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(g.answer)
		require.NoError(t, <-first)
		require.Equal(t, 1, g.asked)
		_, err = m.pausedGroups(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, g.asked, "the group was changed while it was read")
		_, err = m.pausedGroups(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, g.asked)
	})
}
