package workflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

type storeTime struct{}

func (storeTime) Now() time.Time { return time.Time{} }

// A node that does not lead and owes nothing has a turn that went well: else its loop would look as if it stood still.
func TestANodeThatDoesNotLeadNotesItsTurns(t *testing.T) {
	var noted []error
	f := New(Deps{
		Clock: clock.NewSystem(), StoreClock: storeTime{}, Leads: func() bool { return false },
		Note: func(err error) { noted = append(noted, err) },
	})
	require.Equal(t, Interval, f.turn(t.Context(), 0).Wait)
	require.Equal(t, []error{nil}, noted)
}
