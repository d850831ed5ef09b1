package maintenance_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Live rows are never old, whatever their age.
func TestRetentionSparesLiveRuns(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("old", func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.Routing.Labels = map[string]string{"node": "nobody"} // nothing starts
	}))
	n.Fire(t)
	n.FireAt(t, enginetest.Noon.Add(time.Second))
	execs := n.Executions(t, job.ID)
	require.Len(t, execs, 2)
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.Lock(ctx, []string{execs[0].ID})
		if err != nil {
			return err
		}
		held[0].Status, held[0].Claim, held[0].EndTime, held[0].UpdateTime = entity.StatusSkipped, "", n.Time.Now(),
			n.Time.Now()
		return tx.Executions.Update(ctx, held[0], entity.StatusWaiting, 0)
	})
	n.Clock.Advance(40 * 24 * time.Hour)
	gone, err := retention(n, n.Store, maintenance.RetentionDays{Executions: 30}).RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, gone)
	left := n.Executions(t, job.ID)
	require.Len(t, left, 1)
	require.Equal(t, execs[1].ID, left[0].ID)
}

// measured is a clock whose jumps and measurements the test makes.
type measured struct {
	jump, offset time.Duration
	err          error
	asks         int
}

func (m *measured) Measure(context.Context) error { m.asks++; return m.err }
func (m *measured) Jumped() time.Duration         { return m.jump }
func (m *measured) Offset() time.Duration         { return m.offset }

// Rule 13: a jump is an event, and makes the planner look at the clock again.
func TestAJumpOfTheClockIsToldOnceItWasMeasured(t *testing.T) {
	var log bytes.Buffer
	clock := &measured{}
	var jumps []time.Duration
	w := periodic.NewClockWatch(clock, slog.New(slog.NewTextHandler(&log, nil)), func(by time.Duration) {
		jumps = append(jumps, by)
	})
	require.NoError(t, w.RunOnce(t.Context()))
	require.Empty(t, jumps)
	clock.jump = -time.Hour
	require.NoError(t, w.RunOnce(t.Context()))
	require.Equal(t, []time.Duration{-time.Hour}, jumps)
	require.Contains(t, log.String(), "-1h0m0s")
	clock.jump, clock.err = 0, errors.New("the store is away")
	require.ErrorContains(t, w.RunOnce(t.Context()), "the store is away")
	require.Equal(t, 3, clock.asks)
}

func TestAClockThatIsOffIsToldOncePerChange(t *testing.T) {
	var log bytes.Buffer
	clock := &measured{}
	w := periodic.NewClockWatch(clock, slog.New(slog.NewTextHandler(&log, nil)), nil)
	for _, c := range []struct {
		offset time.Duration
		want   string // "": nothing is said
	}{
		{0, ""},
		{time.Second, ""},
		{-1001 * time.Millisecond, "storeOffset=-1.001s"},
		{-1100 * time.Millisecond, ""},
		{-900 * time.Millisecond, ""}, // neither wrong enough nor right
		{-1002 * time.Millisecond, ""},
		{-2500 * time.Millisecond, "storeOffset=-2.5s"},
		{3 * time.Second, "storeOffset=3s"},
		{500 * time.Millisecond, "again"},
		{0, ""},
		{time.Hour, "storeOffset=1h0m0s"},
	} {
		log.Reset()
		clock.offset = c.offset
		require.NoError(t, w.RunOnce(t.Context()))
		if c.want == "" {
			require.Empty(t, log.String(), c.offset)
		} else {
			require.Contains(t, log.String(), c.want)
			require.Equal(t, c.want != "again", strings.Contains(log.String(), "WARN"))
		}
	}
}
