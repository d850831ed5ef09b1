package running

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rule 10: claims pass over a run that the store lets nobody take for 10 s, doubling to 10 min.
func TestTheTimeForWhichClaimsPassOverARunDoubles(t *testing.T) {
	c := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	p, exec := newPassed(c, slog.New(slog.DiscardHandler)), &entity.Execution{ID: "e"}
	for _, sec := range []int{10, 20, 40, 80, 160, 320, 600, 600} {
		p.add(exec, errors.New("out of range"))
		c.Advance(time.Duration(sec)*time.Second - time.Millisecond)
		require.Equal(t, []string{"e"}, p.now(), "%d s", sec)
		c.Advance(time.Millisecond)
		require.Empty(t, p.now(), "%d s", sec)
	}
	c.Advance(passForgotten)
	require.Empty(t, p.now())
	p.add(exec, errors.New("out of range"))
	c.Advance(firstPass)
	require.Empty(t, p.now(), "it begins anew after an hour")
}
