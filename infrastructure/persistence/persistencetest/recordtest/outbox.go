package recordtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// eventOf is the nth event; the order of ids is not that of insertion.
func eventOf(n int, readers entity.EventReaders) entity.Event {
	return entity.Event{
		ID: fmt.Sprintf("event-%05d", 50_000-n), Topic: entity.TopicExecutions, Key: storetest.JobID(1),
		Type: "execution.failed", Readers: readers,
		Payload: `{"text":"😀"}`, CreateTime: storetest.Noon.Add(-time.Duration(n) * time.Second),
	}
}

func addEvents(t *testing.T, s *persistence.Store, events ...entity.Event) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddEvents(ctx, events) })
}

// pending are the ids of what a reader has not read, in order.
func pending(t *testing.T, s *persistence.Store, reader entity.EventReader) (ids []string) {
	t.Helper()
	events, err := s.PendingEvents(t.Context(), reader, 0, 100_000)
	require.NoError(t, err)
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// Each reader gets an event in order of insertion until it has read it; the event goes
// with its last reader.
func outbox(t *testing.T, s *persistence.Store) {
	rules, kafka := entity.EventReaders{Rules: true}, entity.EventReaders{Kafka: true}
	both := entity.EventReaders{Rules: true, Kafka: true}
	all := []entity.Event{eventOf(0, both), eventOf(1, kafka), eventOf(2, rules), eventOf(3, both), eventOf(4, both)}
	for _, e := range all {
		addEvents(t, s, e)
	}
	addEvents(t, s, all[0], all[3], eventOf(9, entity.EventReaders{}))

	got, err := s.PendingEvents(t.Context(), entity.ReaderKafka, 0, 10)
	require.NoError(t, err)
	want := []entity.Event{all[0], all[1], all[3], all[4]}
	last := int64(0)
	for i := range got {
		require.Greater(t, got[i].Seq, last)
		last, got[i].Seq = got[i].Seq, 0
	}
	require.Equal(t, want, got, "in order of insertion, each once, and none without readers")
	got, err = s.PendingEvents(t.Context(), entity.ReaderKafka, last-1, 10)
	require.NoError(t, err)
	require.Equal(t, []string{all[4].ID}, []string{got[0].ID}, "behind a place")
	got, err = s.PendingEvents(t.Context(), entity.ReaderRules, 0, 2)
	require.NoError(t, err)
	require.Len(t, got, 2)

	read := []string{all[0].ID, all[1].ID, all[2].ID, "unknown"}
	require.NoError(t, s.ClearEvents(t.Context(), entity.ReaderKafka, read))
	require.NoError(t, s.ClearEvents(t.Context(), entity.ReaderKafka, nil))
	require.Equal(t, []string{all[3].ID, all[4].ID}, pending(t, s, entity.ReaderKafka))
	require.Equal(t, []string{all[0].ID, all[2].ID, all[3].ID, all[4].ID}, pending(t, s, entity.ReaderRules),
		"what Kafka has read, or never had, stays for the rules")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.ClearEvents(ctx, entity.ReaderRules, []string{all[0].ID, all[2].ID, all[3].ID})
	})
	require.Equal(t, []string{all[3].ID, all[4].ID}, pending(t, s, entity.ReaderKafka))
	require.Equal(t, []string{all[4].ID}, pending(t, s, entity.ReaderRules))
	require.Error(t, s.ClearEvents(t.Context(), "nobody", []string{all[0].ID}))

	addEvents(t, s, all[0])
	require.Contains(t, pending(t, s, entity.ReaderRules), all[0].ID, "its row was gone, so the id is free again")
}

// Readers that end at once leave no row behind, and each event goes from both.
func outboxOfTwo(t *testing.T, s *persistence.Store) {
	const count = 400
	var events []entity.Event
	var ids []string
	for n := range count {
		events = append(events, eventOf(n, entity.EventReaders{Rules: true, Kafka: true}))
		ids = append(ids, events[n].ID)
	}
	addEvents(t, s, events...)
	var readers sync.WaitGroup
	for _, reader := range []entity.EventReader{entity.ReaderRules, entity.ReaderKafka} {
		readers.Go(func() {
			for part := range slices.Chunk(ids, 7) {
				if err := s.ClearEvents(t.Context(), reader, part); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	require.Empty(t, pending(t, s, entity.ReaderRules))
	require.Empty(t, pending(t, s, entity.ReaderKafka))
	addEvents(t, s, events...)
	require.Len(t, pending(t, s, entity.ReaderKafka), count, "all rows were gone")
}

// Of too many events for one reader the oldest go; the other reader keeps its own.
func outboxOverflow(t *testing.T, s *persistence.Store) {
	const count, keep = 60, 40
	for n := range count {
		readers := entity.EventReaders{Rules: n%3 == 0, Kafka: true}
		addEvents(t, s, eventOf(n, readers))
	}
	drop := func(keep, limit int) int {
		n, err := s.DropOldest(t.Context(), entity.ReaderKafka, keep, limit)
		require.NoError(t, err)
		return n
	}
	for limit, want := range map[int]int{1000: count, 7: 7} {
		n, err := s.CountEvents(t.Context(), entity.ReaderKafka, limit)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	n, err := s.CountEvents(t.Context(), entity.ReaderRules, 1000)
	require.NoError(t, err)
	require.Equal(t, count/3, n)
	require.Zero(t, drop(count, 100))
	all := pending(t, s, entity.ReaderKafka)
	require.Equal(t, 15, drop(keep, 15), "no more than asked")
	require.Equal(t, 5, drop(keep, 15), "and no more than needed")
	require.Zero(t, drop(keep, 15))
	require.Equal(t, all[count-keep:], pending(t, s, entity.ReaderKafka), "the newest stay")
	require.Len(t, pending(t, s, entity.ReaderRules), count/3)

	// A wide span of numbers with few rows is not too many.
	require.NoError(t, s.ClearEvents(t.Context(), entity.ReaderKafka, all[count-keep+1:count-1]))
	require.Zero(t, drop(10, 15))
	require.Equal(t, 2, drop(0, 15), "all of them")
	require.Zero(t, drop(0, 15))
}

// An event too old for one reader goes, as far as the oldest are; the other reader keeps its own.
func outboxOfAge(t *testing.T, s *persistence.Store) {
	const count = 30
	for n := range count {
		e := eventOf(n, entity.EventReaders{Rules: true, Kafka: n%2 == 0})
		e.CreateTime = storetest.Noon.Add(time.Duration(n) * time.Minute)
		addEvents(t, s, e)
	}
	all := pending(t, s, entity.ReaderRules)
	drop := func(before time.Duration, limit int) int {
		n, err := s.DropOlder(t.Context(), entity.ReaderRules, storetest.Noon.Add(before), limit)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, drop(0, 100), "none was added before the first")
	require.Equal(t, 4, drop(10*time.Minute, 4), "no more than asked")
	require.Equal(t, 6, drop(10*time.Minute, 100), "and none that is younger")
	require.Zero(t, drop(10*time.Minute, 100))
	require.Equal(t, all[10:], pending(t, s, entity.ReaderRules))
	require.Len(t, pending(t, s, entity.ReaderKafka), count/2)
	require.Equal(t, count-10, drop(time.Hour, 100))
	require.Zero(t, drop(time.Hour, 100), "nothing waits")
	_, err := s.DropOlder(t.Context(), "nobody", storetest.Noon, 1)
	require.Error(t, err)
}

// Nodes that drop at once drop no more than one would, and count each event once.
func outboxDroppedAtOnce(t *testing.T, s *persistence.Store) {
	const count, keep = 300, 40
	var events []entity.Event
	for n := range count {
		events = append(events, eventOf(n, entity.EventReaders{Rules: true, Kafka: n%3 == 0}))
	}
	addEvents(t, s, events...)
	all := pending(t, s, entity.ReaderRules)
	var dropped atomic.Int64
	var nodes sync.WaitGroup
	for range 3 {
		nodes.Go(func() {
			for range 6 {
				n, err := s.DropOldest(t.Context(), entity.ReaderRules, keep, 60)
				dropped.Add(int64(n))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	nodes.Wait()
	require.Equal(t, all[count-keep:], pending(t, s, entity.ReaderRules), "the newest stay")
	require.Equal(t, int64(count-keep), dropped.Load())
	require.Len(t, pending(t, s, entity.ReaderKafka), count/3)
}
