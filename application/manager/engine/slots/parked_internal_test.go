package slots

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const general = entity.SlotGeneral

func TestWhoParksGivesItsSlotToOthers(t *testing.T) {
	s := New(entity.Slots{general: 1})
	require.Equal(t, entity.Slots{general: 1}, s.Reserve(entity.Slots{general: 1}))
	p := s.Park(general, "host")
	require.Equal(t, 1, s.ReserveForClaim(general, 5))
	s.Release(entity.Slots{general: 1})
	require.NoError(t, p.Resume(t.Context()))
	require.Zero(t, s.ReserveForClaim(general, 5))
	require.False(t, p.Leave(), "it has a slot to give back")
	s.Release(entity.Slots{general: 1})
	require.True(t, s.Park(general, "host").Leave())
	require.False(t, (*Parked)(nil).Leave())
}

// An attempt that wants its slot again goes before one that had none yet.
func TestWhoResumesGoesBeforeClaimsAndStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(entity.Slots{general: 2})
		s.Reserve(entity.Slots{general: 2})
		p := s.Park(general, "host")
		require.Equal(t, 1, s.ReserveForClaim(general, 5))
		s.SetBacklog(general)
		resumed := make(chan error, 1)
		go func() { resumed <- p.Resume(context.Background()) }()
		synctest.Wait()
		require.Empty(t, resumed)
		s.mu.Lock()
		s.pools[general].free = 1 // as it is before the one that waits has woken
		s.mu.Unlock()
		require.Zero(t, s.ReserveForClaim(general, 5))
		require.Zero(t, s.Reserve(entity.Slots{general: 1})[general])
		select {
		case <-s.Freed():
			t.Fatal("a claim would find no slot, again and again")
		default:
		}
		s.Release(entity.Slots{})
		s.Release(entity.Slots{general: 1})
		require.NoError(t, <-resumed)
		require.Equal(t, 1, s.ReserveForClaim(general, 5))
	})
}

// A slow host leaves room for others.
func TestTheRoomForAttemptsWithoutASlot(t *testing.T) {
	s := New(entity.Slots{general: 10})
	fill := func(share string) (n int) {
		for s.Park(general, share) != nil {
			n++
		}
		return n
	}
	require.Equal(t, 40, fill("slow"))
	require.Equal(t, 20, fill("other"))
	require.Equal(t, 10, fill("third"))
}

func TestANodeThatStartsNothingParksNothing(t *testing.T) {
	s := New(entity.Slots{general: 1})
	s.Reserve(entity.Slots{general: 1})
	p := s.Park(general, "host")
	s.Reserve(entity.Slots{general: 1})
	s.Suspend(true)
	<-p.Closing()
	require.ErrorIs(t, p.Resume(t.Context()), entity.ErrParkingClosed)
	require.Nil(t, s.Park(general, "host"))
	require.True(t, p.Leave())
	s.Suspend(false)
	p = s.Park(general, "host")
	select {
	case <-p.Closing():
		t.Fatal("the node starts runs again")
	default:
	}
	s.Drain()
	<-p.Closing()
	s.Drain()
}
