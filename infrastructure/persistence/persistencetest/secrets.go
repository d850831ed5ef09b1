package persistencetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func testSecrets(t *testing.T, open Opener) {
	s := open(t, nil)
	first := entity.Secret{
		Name: "db.key", Description: "für Ann", KeyID: "k1", Sealed: []byte{0, 0xff, '\'', 7}, Version: 1, CreateTime: noon, UpdateTime: noon,
	}
	require.NoError(t, s.AddSecret(t.Context(), first))
	require.True(t, fault.Is(s.AddSecret(t.Context(), first), fault.KindConflict))
	got, err := s.SecretsByName(t.Context(), []string{"db.key", "DB.KEY", "none", "caf\u00e9", ""})
	require.NoError(t, err)
	require.Equal(t, []entity.Secret{first}, got, "names differ by case")
	got, err = s.SecretsByName(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)

	second := first
	second.Description, second.KeyID, second.Sealed, second.Version, second.UpdateTime = "", "k2", []byte("x"), 2, noon.Add(time.Hour)
	require.NoError(t, s.ReplaceSecret(t.Context(), second))
	require.True(t, fault.Is(s.ReplaceSecret(t.Context(), second), fault.KindConflict), "one wins")
	unknown := second
	unknown.Name = "none"
	require.True(t, fault.Is(s.ReplaceSecret(t.Context(), unknown), fault.KindNotFound))

	stale := first
	stale.KeyID, stale.Sealed = "k3", []byte("old")
	ok, err := s.ResealSecret(t.Context(), stale)
	require.NoError(t, err)
	require.False(t, ok, "a value that was replaced meanwhile is not brought back")
	again := second
	again.KeyID, again.Sealed = "k3", []byte("y")
	ok, err = s.ResealSecret(t.Context(), again)
	require.NoError(t, err)
	require.True(t, ok)
	got, err = s.SecretsByName(t.Context(), []string{"db.key"})
	require.NoError(t, err)
	require.Equal(t, []entity.Secret{again}, got)

	for i := range 4 {
		require.NoError(t, s.AddSecret(t.Context(), entity.Secret{Name: fmt.Sprint("s", i), KeyID: "k", Sealed: []byte{1}, Version: 1, CreateTime: noon, UpdateTime: noon}))
	}
	var names []string
	page := repository.Page{Limit: 2}
	for {
		secrets, next, err := s.ListSecrets(t.Context(), page)
		require.NoError(t, err)
		for _, v := range secrets {
			names = append(names, v.Name)
		}
		if next == "" {
			break
		}
		page.Cursor = next
	}
	require.Equal(t, []string{"db.key", "s0", "s1", "s2", "s3"}, names)
	_, _, err = s.ListSecrets(t.Context(), repository.Page{Cursor: "%"})
	require.True(t, fault.Is(err, fault.KindInvalid))

	require.NoError(t, s.DropSecret(t.Context(), "db.key"))
	require.True(t, fault.Is(s.DropSecret(t.Context(), "db.key"), fault.KindNotFound))
	require.True(t, fault.Is(s.DropSecret(t.Context(), "caf\u00e9"), fault.KindNotFound))
}
