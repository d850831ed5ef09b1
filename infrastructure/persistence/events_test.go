package persistence_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A reader of the outbox is told of each commit that filled it, and of no other.
func TestACommitThatAddsEventsIsTold(t *testing.T) {
	told := 0
	cfg := dbtest.SQLite(t)
	cfg.EventsAdded = func() { told++ }
	cfg.AutoMigrate = true
	s, err := persistence.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	write := func(readers entity.EventReaders, fails error) {
		err := s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			require.Zero(t, told, "not before the commit")
			err := tx.Records.AddEvents(ctx, []entity.Event{{
				ID: "e", Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(), Readers: readers,
			}})
			return errors.Join(err, fails)
		})
		require.ErrorIs(t, err, fails)
	}
	write(entity.EventReaders{}, nil)
	require.Zero(t, told, "nobody reads it")
	write(entity.EventReaders{Kafka: true}, context.Canceled)
	require.Zero(t, told, "rolled back")
	write(entity.EventReaders{Kafka: true}, nil)
	require.Equal(t, 1, told)
}

// A commit that adds what is owed tells the followers of those kinds, each once, and nobody else.
func TestACommitThatOwesTellsTheKinds(t *testing.T) {
	var told []entity.TodoKind
	cfg := dbtest.SQLite(t)
	cfg.TodosAdded = func(kind entity.TodoKind) { told = append(told, kind) }
	s := dbtest.Open(t, cfg)
	next := entity.Todo{Run: identity.RandomID(time.Now()), Kind: entity.TodoNext, Time: time.Now()}
	run, other := next, next
	run.Kind, other.Run = entity.TodoRun, identity.RandomID(time.Now())
	for _, c := range []struct {
		add   []entity.Todo
		fails error
		want  []entity.TodoKind
	}{
		{nil, nil, nil},
		{[]entity.Todo{next, run}, context.Canceled, nil},
		{[]entity.Todo{next, other}, nil, []entity.TodoKind{entity.TodoNext}},
		{[]entity.Todo{run}, nil, []entity.TodoKind{entity.TodoRun}},
		{[]entity.Todo{next, run, other}, nil, []entity.TodoKind{entity.TodoNext, entity.TodoRun}},
	} {
		told = nil
		err := s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			return errors.Join(tx.Todos.AddTodos(ctx, c.add), c.fails)
		})
		require.ErrorIs(t, err, c.fails)
		require.Equal(t, c.want, told)
	}
}
