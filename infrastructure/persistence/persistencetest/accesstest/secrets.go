package accesstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Secrets runs the suite over stores that open gives.
func Secrets(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	first := entity.Secret{
		Name: "db.key", Description: "für Ann", KeyID: "k1", Sealed: []byte{0, 0xff, '\'', 7}, Version: 1,
		CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	require.NoError(t, s.AddSecret(t.Context(), first))
	require.True(t, apperror.Is(s.AddSecret(t.Context(), first), apperror.KindConflict))
	got, err := s.SecretsByName(t.Context(), []string{"db.key", "DB.KEY", "none", "caf\u00e9", ""})
	require.NoError(t, err)
	require.Equal(t, []entity.Secret{first}, got, "names differ by case")
	got, err = s.SecretsByName(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)

	second := first
	second.Description, second.KeyID, second.Sealed, second.Version, second.UpdateTime = "", "k2", []byte("x"), 2,
		storetest.Noon.Add(time.Hour)
	require.NoError(t, s.ReplaceSecret(t.Context(), second))
	require.True(t, apperror.Is(s.ReplaceSecret(t.Context(), second), apperror.KindConflict), "one wins")
	unknown := second
	unknown.Name = "none"
	require.True(t, apperror.Is(s.ReplaceSecret(t.Context(), unknown), apperror.KindNotFound))

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
		require.NoError(t, s.AddSecret(t.Context(), entity.Secret{
			Name: fmt.Sprint("s", i), KeyID: "k", Sealed: []byte{1},
			Version: 1, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
		}))
	}
	var names []string
	page := repository.Page{Limit: 2}
	for {
		secrets, next, err := s.ListSecrets(t.Context(), nil, page)
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
	_, _, err = s.ListSecrets(t.Context(), nil, repository.Page{Cursor: "%"})
	require.True(t, apperror.Is(err, apperror.KindInvalid))

	require.True(t, apperror.Is(s.DropSecret(t.Context(), "db.key", 1), apperror.KindConflict), "somebody has changed it")
	require.NoError(t, s.DropSecret(t.Context(), "db.key", 2))
	require.True(t, apperror.Is(s.DropSecret(t.Context(), "db.key", 2), apperror.KindNotFound))
	require.True(t, apperror.Is(s.DropSecret(t.Context(), "caf\u00e9", 1), apperror.KindNotFound))
	secretGroups(t, s)
	secretUses(t, s)
}

func secretGroups(t *testing.T, s *persistence.Store) {
	own := entity.Secret{
		Name: "own", Groups: []string{"pay", "ä.b"}, KeyID: "k", Sealed: []byte("x"), Version: 1,
		CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	require.NoError(t, s.AddSecret(t.Context(), own))
	read := func() entity.Secret {
		got, err := s.SecretsByName(t.Context(), []string{"own"})
		require.NoError(t, err)
		return got[0]
	}
	require.Equal(t, own, read())
	wider := own
	wider.Groups, wider.Sealed, wider.KeyID, wider.Version = nil, nil, "", 2
	require.NoError(t, s.ReplaceSecret(t.Context(), wider))
	seals, err := s.Seals(t.Context())
	require.NoError(t, err)
	require.Equal(t, []repository.Seal{{KeyID: "k", Secrets: 5}}, seals)
	bound := own
	bound.Name, bound.KeyID = "bound", "k0"
	require.NoError(t, s.AddSecret(t.Context(), bound))
	seals, err = s.Seals(t.Context())
	require.NoError(t, err)
	require.Equal(t, []repository.Seal{{KeyID: "k", Secrets: 5}, {KeyID: "k0", Secrets: 1, Bound: 1}}, seals)
	listed := func(within []string) (names []string) {
		page := repository.Page{Limit: 1}
		for {
			found, next, err := s.ListSecrets(t.Context(), within, page)
			require.NoError(t, err)
			require.Len(t, found, 1, "no page says that there are others")
			if names = append(names, found[0].Name); next == "" {
				return names
			}
			page.Cursor = next
		}
	}
	require.Equal(t, []string{"bound", "own", "s0", "s1", "s2", "s3"}, listed(nil))
	require.Equal(t, []string{"bound", "own", "s0", "s1", "s2", "s3"}, listed([]string{"none", "ä.b"}))
	require.Equal(t, []string{"own", "s0", "s1", "s2", "s3"}, listed([]string{"pa", "ay", "b"}),
		"a part of a name is another name")
	require.Equal(t, []string{"own", "s0", "s1", "s2", "s3"}, listed([]string{}))
	require.Equal(t, []any{[]string(nil), []byte("x"), "k", 2}, []any{
		read().Groups, read().Sealed, read().KeyID,
		read().Version,
	}, "the value is as it was")
}

func secretUses(t *testing.T, s *persistence.Store) {
	job := func(i int, group, data string) {
		j := storetest.PlannedJob(i, storetest.Noon)
		j.Group, j.Data = group, data
		storetest.Add(t, s, []*entity.Job{j})
	}
	job(801, "pay", `{"url":"http://h/${secret.own}"}`)
	job(802, "risk", `{"a":["${secret.own}${secret.other}"]}`)
	job(803, "ops", `{"a":"${secret.own}"}`)
	job(804, "risk", `{"a":"$${secret.own} ${secret.OWN} ${secret.own_}"}`)
	uses := func(within, except []string, limit int) []string {
		found, err := s.JobsNaming(t.Context(), "own", within, except, limit)
		require.NoError(t, err)
		out := []string{}
		for _, j := range found {
			out = append(out, j.Group)
		}
		return out
	}
	require.Equal(t, []string{"pay", "risk", "ops"}, uses(nil, nil, 10))
	require.Equal(t, []string{"risk", "ops"}, uses(nil, []string{"pay"}, 10))
	require.Equal(t, []string{"risk"}, uses([]string{"pay", "risk"}, []string{"pay"}, 10))
	require.Equal(t, []string{"pay", "risk"}, uses(nil, nil, 2))
}
