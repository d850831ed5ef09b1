package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Engine rule 26. A beat that is old does not say that nobody works under the
// id: while the store was away, nobody could beat.
func TestWhetherAnIDIsTakenIsToldByTheBeats(t *testing.T) {
	for name, c := range map[string]struct {
		last  time.Duration // before now
		beats bool
		gone  bool
		epoch int64 // 0: refused
	}{
		"it beats": {0, true, false, 0},
		"it beats again after an outage of the store": {time.Hour, true, false, 0},
		"it has just stopped":                         {0, false, false, 2},
		"it has stopped long ago":                     {time.Hour, false, false, 2},
		"it has left":                                 {0, false, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			cfgs := peers(t, allRoles)
			store := dbtest.Open(t,
				persistence.Config{Config: sqldb.Config{Driver: cfgs[0].Store.Driver, DSN: cfgs[0].Store.DSN}, AutoMigrate: true})
			now, err := store.StoreTime(t.Context())
			require.NoError(t, err)
			former := entity.Node{ID: cfgs[0].Node.ID, Roles: []string{entity.RoleExecutor}, LastHeartbeat: now.Add(-c.last)}
			former.Epoch, err = store.Register(t.Context(), former)
			require.NoError(t, err)
			if c.gone {
				require.NoError(t, store.Leave(t.Context(), former.ID, former.Epoch))
			}
			if c.beats {
				stop := beating(t, store, former)
				defer stop()
			}
			engine, err := app.NewEngine(t.Context(), cfgs[0], app.Options{Executor: &script{}, Logger: discard()})
			if c.epoch == 0 {
				require.True(t, apperror.Is(err, apperror.KindConflict), "%v", err)
				require.ErrorContains(t, err, "node.id")
				return
			}
			require.NoError(t, err)
			engine.Start()
			defer func() { require.NoError(t, engine.Stop(context.Background())) }()
			nodes, err := store.All(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.epoch, nodes[0].Epoch)
		})
	}
}

// beating beats as a node that finds its store again a little later.
func beating(t *testing.T, store *persistence.Store, n entity.Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = store.Heartbeat(ctx, n) // the newcomer's refusal is what counts
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
