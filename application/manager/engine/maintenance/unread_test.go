package maintenance_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Without a leader events wait for a day; then they go, except what Kafka is still to get.
func TestWhatTheRulesDoNotReadGoesAfterADay(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	events, ids := numbered(30, func(int) string { return "" })
	for i := range events {
		events[i].Readers = entity.EventReaders{Rules: true, Kafka: i%3 == 0}
		events[i].CreateTime = enginetest.Noon
		if i >= 20 {
			events[i].CreateTime = enginetest.Noon.Add(time.Hour)
		}
	}
	store(t, n, events)
	n.Clock.Jump(24*time.Hour + time.Second) // the node has just started
	dropped := 0
	var log bytes.Buffer
	u := maintenance.NewUnread(maintenance.UnreadDeps{
		Outbox: n.Store, Clock: n.Clock, StoreClock: n.Clock, Dropped: func(n int) { dropped += n },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	turn := func() {
		t.Helper()
		require.NoError(t, u.RunOnce(t.Context()))
	}
	turn()
	n.Clock.Advance(5*time.Minute - time.Second)
	turn()
	require.Len(t, n.Events(t), len(ids), "a leader reads first what waited while all nodes were down")
	reason, _ := u.Trouble()
	require.Empty(t, reason)
	require.Empty(t, log.String())

	n.Clock.Advance(time.Second)
	turn()
	require.Len(t, n.Events(t), 10, "those of the last day stay")
	require.Len(t, waiting(t, n), 10, "and what Kafka has not got")
	require.Equal(t, 20, dropped)
	reason, blocks := u.Trouble()
	require.Contains(t, reason, "see that a node leads")
	require.False(t, blocks)
	require.Contains(t, log.String(), "events=20")
	n.Clock.Advance(10 * time.Minute)
	reason, _ = u.Trouble()
	require.Empty(t, reason)
}

// floods says that some are too many in each turn.
type floods struct {
	memory
	turns int
}

func (f *floods) DropOldest(ctx context.Context, r entity.EventReader, keep, limit int) (int, error) {
	f.turns++
	return f.memory.DropOldest(ctx, r, keep, limit)
}

func (f *floods) DropOlder(context.Context, entity.EventReader, time.Time, int) (int, error) {
	return 0, nil
}

// Of too many the oldest go, so many in a turn; the log says so once in ten minutes.
func TestTheOldestOfTooManyGo(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	m := &floods{memory: memory{excess: 123_456}}
	dropped := 0
	var log bytes.Buffer
	u := maintenance.NewUnread(maintenance.UnreadDeps{
		Outbox: m, Clock: n.Clock, StoreClock: n.Clock, Dropped: func(n int) { dropped += n },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, u.RunOnce(t.Context()))
	require.Equal(t, 100_000, dropped)
	require.Equal(t, 10, m.turns)
	n.Clock.Advance(10 * time.Second)
	require.NoError(t, u.RunOnce(t.Context()))
	require.Equal(t, 123_456, dropped)
	require.Equal(t, 1, strings.Count(log.String(), "dropped"))
	n.Clock.Advance(10 * time.Minute)
	require.NoError(t, u.RunOnce(t.Context()))
	require.Equal(t, 2, strings.Count(log.String(), "dropped"), "the rest is logged, too")
	n.Clock.Advance(10 * time.Minute)
	require.NoError(t, u.RunOnce(t.Context()))
	require.Equal(t, 2, strings.Count(log.String(), "dropped"), "that it is over needs no line")
}
