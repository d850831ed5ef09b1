package registrytest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// StoreStates runs the suite over stores that open gives: mode and mark of a store stand in
// one row and do not touch each other.
func StoreStates(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	state := func() entity.StoreState {
		t.Helper()
		got, err := s.StoreState(t.Context())
		require.NoError(t, err)
		return got
	}
	move := func(from, to time.Time, want bool) {
		t.Helper()
		ok, err := s.MoveStoreMark(t.Context(), from, to)
		require.NoError(t, err)
		require.Equal(t, want, ok)
	}
	require.Equal(t, entity.StoreState{Mode: entity.StoreActive}, state(), "a store that nobody wrote into is active")

	first, second := storetest.Noon, storetest.Noon.Add(5*time.Second)
	move(first, second, false)
	move(time.Time{}, first, true)
	move(time.Time{}, second, false)
	move(first, second, true)
	move(first, first, false)
	move(second, first, true) // a clock that was set back
	require.Equal(t, entity.StoreState{Mode: entity.StoreActive, Mark: first}, state())

	demands := func() int64 {
		t.Helper()
		found, err := sqldb.Collect(t.Context(), s.Pool, "test", "SELECT min_version FROM scheduler_schema_compat", nil,
			sqlvalue.ScanInt)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	require.Less(t, demands(), int64(69), "programs of the former release work with an active store")
	now, err := s.StoreTime(t.Context())
	require.NoError(t, err)
	reason := strings.Repeat("副", entity.MaxStoreReason)
	require.NoError(t, s.SetStoreMode(t.Context(), entity.StoreState{
		Mode: entity.StoreStandby, Reason: reason, By: "backup", Mark: second,
	}))
	got := state()
	require.WithinDuration(t, now, got.Since, time.Minute, "by the store's clock")
	got.Since = time.Time{}
	require.Equal(t, entity.StoreState{Mode: entity.StoreStandby, Reason: reason, By: "backup", Mark: first}, got)

	require.EqualValues(t, 69, demands(), "a program that does not know standby would fire the jobs of a copy")

	for _, id := range []string{"beats", "silent"} {
		_, err = s.Register(t.Context(), entity.Node{ID: id, Port: 7})
		require.NoError(t, err)
	}
	require.NoError(t, s.Change(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, c *sqldb.Conn) error {
		_, err := c.Exec(ctx, "test", "UPDATE scheduler_node_registry SET last_heartbeat = ? WHERE id = 'silent'",
			sqlvalue.TimeArg(now.Add(-2*time.Minute)))
		return err
	}))
	require.NoError(t, s.SetStoreMode(t.Context(), entity.StoreState{Mode: entity.StoreActive, By: "root"}))
	nodes, err := s.All(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{7, 0}, []int{nodes[0].Port, nodes[1].Port}, "the nodes of the original are not asked any more")
	got = state()
	require.False(t, got.Since.IsZero())
	got.Since = time.Time{}
	require.Equal(t, entity.StoreState{Mode: entity.StoreActive, By: "root", Mark: first}, got)

	for name, bad := range map[string]entity.StoreState{
		"no mode":    {},
		"a mode":     {Mode: "PAUSED"},
		"a reason":   {Mode: entity.StoreStandby, Reason: reason + "副"},
		"a name":     {Mode: entity.StoreStandby, By: strings.Repeat("x", entity.MaxStoreBy+1)},
		"no letters": {Mode: entity.StoreStandby, Reason: "\xff"},
	} {
		require.True(t, apperror.Is(s.SetStoreMode(t.Context(), bad), apperror.KindInvalid), name)
	}
	require.Equal(t, entity.StoreActive, state().Mode)
}
