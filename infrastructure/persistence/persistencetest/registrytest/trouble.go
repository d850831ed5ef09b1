package registrytest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Troubles runs the suite over stores that open gives: what works less well than it should
// is that of the latest life of live nodes.
func Troubles(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		_, err := s.Register(t.Context(), entity.Node{ID: id})
		require.NoError(t, err)
	}
	put := func(id string, epoch int64, parts map[string]string) {
		t.Helper()
		require.NoError(t, s.PutTrouble(t.Context(), id, epoch, parts))
	}
	is := func(want map[string]map[string]string) {
		t.Helper()
		got, err := s.Troubles(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	is(map[string]map[string]string{})
	put("a", 1, map[string]string{"redis": "away \"now\" — 红"})
	put("b", 1, map[string]string{"kafka": "away", "redis": "away"})
	put("c", 1, map[string]string{"redis": "away"})
	put("none", 1, map[string]string{"redis": "away"})
	require.NoError(t, s.Leave(t.Context(), "c", 1))
	is(map[string]map[string]string{
		"a": {"redis": "away \"now\" — 红"}, "b": {"kafka": "away", "redis": "away"},
	})
	put("a", 2, nil)
	put("b", 1, nil)
	is(map[string]map[string]string{"a": {"redis": "away \"now\" — 红"}})
	put("a", 1, map[string]string{})
	is(map[string]map[string]string{})
}
