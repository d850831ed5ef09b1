package persistence_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// The former release takes an id over under the next epoch and leaves the columns
// that it does not know: what a life before it published is not its own.
func TestANodeOfTheFormerReleasePublishesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		handlers := []string{"settle"}
		_, err := s.Register(t.Context(), entity.Node{
			ID: "n1", Slots: 8, CommandSlots: 2, Handlers: handlers,
			HandlersHash: entity.HandlersHash(handlers),
		})
		require.NoError(t, err)
		require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "test",
			func(ctx context.Context, tx dbtest.Tx) error {
				_, err := tx.Exec(ctx,
					"UPDATE scheduler_node_registry SET epoch = epoch + 1, slots = 7, status = 'UP' WHERE id = 'n1'")
				return err
			}))
		for range 2 {
			seen, _, err := s.View(t.Context())
			require.NoError(t, err)
			require.False(t, seen[0].Publishes())
			require.Empty(t, seen[0].Handlers)
			running, slots := seen[0].Load(entity.SlotCommand)
			require.Equal(t, []int{0, 7}, []int{running, slots}, "it has one kind of slots")
		}
	})
}
