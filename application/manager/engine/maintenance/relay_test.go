package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errAway = errors.New("the broker is away")

// broker takes events, but for those that refuse names. As a Publisher must, it takes
// none behind one of the same key that it refused.
type broker struct {
	mu     sync.Mutex
	refuse func(e entity.Event) bool
	calls  int
	seen   []string
}

func (b *broker) Publish(_ context.Context, events []entity.Event) (taken []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	held := map[string]bool{}
	for _, e := range events {
		if held[e.Key] || b.refuse != nil && b.refuse(e) {
			held[e.Key], err = true, errAway
			continue
		}
		b.seen = append(b.seen, e.ID)
		taken = append(taken, e.ID)
	}
	return taken, err
}

// refuseIf changes what is refused.
func (b *broker) refuseIf(refuse func(e entity.Event) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = refuse
}

func (b *broker) took() (ids []string, calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.seen...), b.calls
}

// relayOf publishes the node's outbox; what it dropped is added up.
func relayOf(outbox repository.Outbox, b maintenance.Publisher, c clock.Clock) *maintenance.Relay {
	return maintenance.NewRelay(maintenance.RelayDeps{
		Outbox: outbox, Publisher: b, Clock: c, Leads: func() bool { return true },
		Note: func(error) {},
	})
}

// numbered are events for Kafka in order; each has the key that key says.
func numbered(count int, key func(i int) string) (events []entity.Event, ids []string) {
	for i := range count {
		id := fmt.Sprintf("event-%04d", count-i)
		ids = append(ids, id)
		events = append(events, entity.Event{
			ID: id, Topic: entity.TopicExecutions, Key: key(i), Type: "t", Payload: "{}", CreateTime: enginetest.Noon,
			Readers: entity.EventReaders{Kafka: true},
		})
	}
	return events, ids
}

func store(t *testing.T, n *enginetest.Node, events []entity.Event) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddEvents(ctx, events) })
}

func waiting(t *testing.T, n *enginetest.Node) (ids []string) {
	t.Helper()
	events, err := n.Store.PendingEvents(t.Context(), entity.ReaderKafka, 0, 10_000)
	require.NoError(t, err)
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// Rule 24: what is in the outbox is published at least once and in order; what
// nobody took stays.
func TestTheOutboxIsRelayedInOrder(t *testing.T) {
	const count = 1203
	n := enginetest.New(t, enginetest.Options{})
	events, want := numbered(count, func(int) string { return "" })
	store(t, n, events)
	b := &broker{refuse: func(entity.Event) bool { return true }}
	relay := relayOf(n.Store, b, n.Clock)
	sent, refused, err := relay.RunOnce(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, refused, errAway)
	require.Zero(t, sent)
	require.Len(t, waiting(t, n), count, "nothing was cleared")
	b.refuse = nil
	sent, refused, err = relay.RunOnce(t.Context())
	require.NoError(t, errors.Join(refused, err))
	require.Equal(t, count, sent)
	require.Equal(t, want, b.seen, "in order of insertion")
	sent, refused, err = relay.RunOnce(t.Context())
	require.NoError(t, errors.Join(refused, err))
	require.Zero(t, sent)
}

// What one key waits for holds up no other, and nothing of it passes before.
func TestAFailedEventHoldsUpItsKeyAlone(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	// One key fills more than a page; the others stand among it and behind it.
	events, ids := numbered(1400, func(i int) string {
		if i%100 == 99 {
			return fmt.Sprint("other-", i)
		}
		return "stuck"
	})
	store(t, n, events)
	b := &broker{refuse: func(e entity.Event) bool { return e.ID == ids[3] }}
	relay := relayOf(n.Store, b, n.Clock)
	sent, refused, err := relay.RunOnce(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, refused, errAway)
	require.Equal(t, 3+14, sent, "the first of the key, and all others")
	b.refuse = nil
	before := len(b.seen)
	_, refused, err = relay.RunOnce(t.Context())
	require.NoError(t, errors.Join(refused, err))
	require.Empty(t, waiting(t, n))
	var stuck []string
	for i, id := range ids {
		if i >= 3 && i%100 != 99 {
			stuck = append(stuck, id)
		}
	}
	require.Equal(t, stuck, b.seen[before:], "in order")
}

// lateCommit is an outbox of which one event is not visible yet.
type lateCommit struct {
	repository.Outbox
	hidden string
}

func (o *lateCommit) PendingEvents(ctx context.Context, reader entity.EventReader, after int64, limit int) (
	[]entity.Event, error,
) {
	events, err := o.Outbox.PendingEvents(ctx, reader, after, limit)
	return slices.DeleteFunc(events, func(e entity.Event) bool { return e.ID == o.hidden }), err
}

// Rule 32: a transaction that commits late has a smaller number than what is published already. Its event goes out all
// the same.
func TestAnEventThatIsCommittedLateIsPublished(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	events, ids := numbered(3, func(i int) string { return fmt.Sprint(i) })
	store(t, n, events)
	outbox, b := &lateCommit{Outbox: n.Store, hidden: ids[1]}, &broker{}
	relay := relayOf(outbox, b, n.Clock)
	for _, want := range [][]string{{ids[0], ids[2]}, {ids[0], ids[2], ids[1]}} {
		_, refused, err := relay.RunOnce(t.Context())
		require.NoError(t, errors.Join(refused, err))
		require.Equal(t, want, b.seen)
		outbox.hidden = ""
	}
	require.Empty(t, waiting(t, n))
}

// A relay whose answer of the store is lost sends again, and loses nothing.
func TestARelayThatCannotClearSendsAgain(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	events, ids := numbered(3, func(int) string { return "" })
	store(t, n, events)
	b := &broker{}
	broken := &brokenOutbox{Outbox: n.Store, fails: 1}
	relay := relayOf(broken, b, n.Clock)
	_, _, err := relay.RunOnce(t.Context())
	require.ErrorContains(t, err, "clear published events")
	_, _, err = relay.RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, append(ids, ids...), b.seen)
	require.Empty(t, waiting(t, n))
}

// brokenOutbox does not clear the first few times.
type brokenOutbox struct {
	repository.Outbox
	fails int
}

func (o *brokenOutbox) ClearEvents(ctx context.Context, r entity.EventReader, ids []string) error {
	if o.fails > 0 {
		o.fails--
		return errAway
	}
	return o.Outbox.ClearEvents(ctx, r, ids)
}

// memory is an outbox without a store. Safe for concurrent use.
type memory struct {
	repository.Outbox
	mu     sync.Mutex
	events []entity.Event
	looks  atomic.Int32
	excess int
}

func (m *memory) add(ids ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		m.events = append(m.events, entity.Event{ID: id, Seq: int64(len(m.events) + 1)})
	}
}

func (m *memory) PendingEvents(context.Context, entity.EventReader, int64, int) ([]entity.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks.Add(1)
	return m.events, nil
}

func (m *memory) ClearEvents(_ context.Context, _ entity.EventReader, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(ids) > 0 {
		m.events = nil
	}
	return nil
}

func (m *memory) DropOldest(_ context.Context, _ entity.EventReader, keep, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(limit, m.excess)
	if keep == 1_000_000 {
		m.excess -= n
	}
	return n, nil
}

// busyEnd is when a relay without work is idle again.
const busyEnd = 6 * time.Second

// An idle relay looks each second, a busy one five times, and a commit wakes it at once.
func TestTheRelayLooksOftenAfterWorkAndAtOnceWhenWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, b := &memory{}, &broker{}
		relay := relayOf(m, b, clock.NewSystem())
		ctx, stop := context.WithCancel(t.Context())
		go relay.Run(ctx)
		looks := func(within time.Duration) int {
			m.looks.Store(0)
			time.Sleep(within)
			synctest.Wait()
			return int(m.looks.Load())
		}
		time.Sleep(time.Millisecond)
		require.Equal(t, 10, looks(10*time.Second), "idle")
		m.add("a")
		relay.Wake()
		synctest.Wait()
		ids, _ := b.took()
		require.Equal(t, []string{"a"}, ids, "at once")
		require.InDelta(t, 25, looks(5*time.Second), 1, "after work")
		m.add("b")
		relay.Wake()
		m.looks.Store(0)
		for range 1000 {
			relay.Wake()
			time.Sleep(time.Millisecond)
		}
		require.InDelta(t, 20, m.looks.Load(), 2, "many commits are few turns")
		time.Sleep(busyEnd)
		require.InDelta(t, 10, looks(10*time.Second), 2, "idle again")
		stop()
		synctest.Wait()
	})
}

// Brokers that are away are asked ever less, not at each commit, and the relay goes on
// soon after they are back.
func TestTheRelayBacksOffWhileBrokersAreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, b := &memory{}, &broker{refuse: func(entity.Event) bool { return true }}
		relay := relayOf(m, b, clock.NewSystem())
		ctx, stop := context.WithCancel(t.Context())
		go relay.Run(ctx)
		m.add("a")
		for range 600 {
			relay.Wake()
			time.Sleep(100 * time.Millisecond)
		}
		_, calls := b.took()
		require.Less(t, calls, 20, "in a minute")
		require.Greater(t, calls, 10)
		b.refuseIf(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		ids, _ := b.took()
		require.Equal(t, []string{"a"}, ids)
		stop()
		synctest.Wait()
	})
}

// Only the leader publishes.
func TestTheRelayIsTheLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, b := &memory{}, &broker{}
		var leads atomic.Bool
		relay := maintenance.NewRelay(maintenance.RelayDeps{
			Outbox: m, Publisher: b, Clock: clock.NewSystem(), Leads: leads.Load, Note: func(error) {},
		})
		ctx, stop := context.WithCancel(t.Context())
		go relay.Run(ctx)
		m.add("a")
		relay.Wake()
		time.Sleep(10 * time.Second)
		require.Zero(t, m.looks.Load())
		leads.Store(true)
		time.Sleep(maintenance.RelayInterval)
		synctest.Wait()
		ids, _ := b.took()
		require.Equal(t, []string{"a"}, ids)
		stop()
		synctest.Wait()
	})
}

// Rows for a reader that is off go: those of a time when it was on, and those of nodes of
// older releases. The other reader keeps its own.
func TestWhatNobodyReadsIsForgotten(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	events, ids := numbered(30, func(int) string { return "" })
	for i := range events {
		events[i].Readers = entity.EventReaders{Rules: true, Kafka: i%2 == 0}
	}
	store(t, n, events)
	cleared, err := maintenance.Forget(t.Context(), n.Store, entity.EventReaders{Rules: true, Kafka: true})
	require.NoError(t, err)
	require.Zero(t, cleared)
	cleared, err = maintenance.Forget(t.Context(), n.Store, entity.EventReaders{Kafka: true})
	require.NoError(t, err)
	require.Equal(t, len(ids), cleared)
	require.Empty(t, n.Events(t))
	require.Len(t, waiting(t, n), len(ids)/2)
	cleared, err = maintenance.Forget(t.Context(), n.Store, entity.EventReaders{})
	require.NoError(t, err)
	require.Equal(t, len(ids)/2, cleared)
}
