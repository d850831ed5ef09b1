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

// Users runs the suite over stores that open gives.
func Users(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	u := entity.User{
		ID: storetest.JobID(1), Name: "admin", PasswordHash: "$argon2id$v=19$x", Role: entity.RoleAdmin,
		MustChangePassword: true, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	require.NoError(t, s.AddUser(t.Context(), u))
	again := u
	again.ID = storetest.JobID(2)
	require.True(t, apperror.Is(s.AddUser(t.Context(), again), apperror.KindConflict))
	again.Name = "ADMIN"
	require.True(t, apperror.Is(s.AddUser(t.Context(), again), apperror.KindConflict),
		"two users do not differ by case alone")
	got, err := s.UserByName(t.Context(), "admin")
	require.NoError(t, err)
	require.Equal(t, u, got)
	got, err = s.UserByID(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, u, got)
	for _, name := range []string{"", "Admin", "admin ", "ädmin", "' OR 1=1 -- "} {
		_, err = s.UserByName(t.Context(), name)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
	}
	_, err = s.UserByID(t.Context(), "ü")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	n, err := s.CountUsers(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	sessions(t, s, u)
}

func sessions(t *testing.T, s *persistence.Store, u entity.User) {
	open := func(hash string) entity.Session {
		v := entity.Session{
			TokenHash: hash, UserID: u.ID, ExpiresAt: storetest.Noon.Add(time.Hour),
			CreateTime: storetest.Noon,
		}
		require.NoError(t, s.AddSession(t.Context(), v, 100))
		return v
	}
	a := open("hash-a")
	open("hash-b")
	got, err := s.SessionByHash(t.Context(), "hash-a", storetest.Noon)
	require.NoError(t, err)
	require.Equal(t, a, got)
	_, err = s.SessionByHash(t.Context(), "hash-a", storetest.Noon.Add(time.Hour))
	require.True(t, apperror.Is(err, apperror.KindNotFound), "it has expired")
	sessionUsers(t, s, u)
	of := func(now time.Time) (hashes []string) {
		found, err := s.SessionsOf(t.Context(), u.ID, now)
		require.NoError(t, err)
		for _, v := range found {
			hashes = append(hashes, v.TokenHash)
		}
		return hashes
	}
	open("hash-c")
	require.Equal(t, []string{"hash-a", "hash-b", "hash-c"}, of(storetest.Noon))
	require.Empty(t, of(storetest.Noon.Add(time.Hour)), "they have expired")
	n, err := s.DropSessions(t.Context(), storetest.JobID(9), "")
	require.NoError(t, err)
	require.Zero(t, n, "those of others stay")
	n, err = s.DropSessions(t.Context(), u.ID, "hash-b")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"hash-b"}, of(storetest.Noon))
	open("hash-a")
	require.NoError(t, s.DropSession(t.Context(), "hash-a"))
	require.NoError(t, s.DropSession(t.Context(), "hash-a"))
	_, err = s.SessionByHash(t.Context(), "hash-a", storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	require.NoError(t, s.SetPassword(t.Context(), u.ID, repository.NewPassword{
		Hash: "new hash", MustChange: true, At: storetest.Noon.Add(time.Minute),
	}))
	_, err = s.SessionByHash(t.Context(), "hash-b", storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "a new password ends all sessions")
	changed, err := s.UserByID(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"new hash", true, storetest.Noon.Add(time.Minute)},
		[]any{changed.PasswordHash, changed.MustChangePassword, changed.UpdateTime})
	open("hash-a")
	only := entity.Session{
		TokenHash: "hash-c", UserID: u.ID, ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon,
	}
	require.NoError(t, s.SetPassword(t.Context(), u.ID, repository.NewPassword{
		Hash: "own", Session: &only, At: storetest.Noon,
	}))
	require.Equal(t, []string{"hash-c"}, of(storetest.Noon), "the new session is the only one")
	changed, err = s.UserByID(t.Context(), u.ID)
	require.NoError(t, err)
	require.False(t, changed.MustChangePassword)
	require.True(t, apperror.Is(s.SetPassword(t.Context(), storetest.JobID(9),
		repository.NewPassword{Hash: "x", At: storetest.Noon}),
		apperror.KindNotFound))
	sessionsBeyond(t, s, u)
}

// sessionUsers: the users of many sessions are read at once.
func sessionUsers(t *testing.T, s *persistence.Store, u entity.User) {
	users, err := s.SessionUsers(t.Context(), []string{"hash-a", "hash-b", "hash-x"}, storetest.Noon)
	require.NoError(t, err)
	owner, err := s.UserByID(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]entity.User{"hash-a": owner, "hash-b": owner}, users)
	users, err = s.SessionUsers(t.Context(), []string{"hash-a"}, storetest.Noon.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, users, "it has expired")
	users, err = s.SessionUsers(t.Context(), nil, storetest.Noon)
	require.NoError(t, err)
	require.Empty(t, users)
}

// sessionsBeyond: only the latest sessions of a user go on.
func sessionsBeyond(t *testing.T, s *persistence.Store, u entity.User) {
	for i := range 5 {
		v := entity.Session{
			TokenHash: fmt.Sprint("of u ", i), UserID: u.ID, ExpiresAt: storetest.Noon.Add(time.Hour),
			CreateTime: storetest.Noon.Add(time.Duration(i) * time.Second),
		}
		require.NoError(t, s.AddSession(t.Context(), v, 3))
	}
	require.NoError(t, s.AddSession(t.Context(), entity.Session{
		TokenHash: "of another", UserID: "another",
		ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon,
	}, 3))
	for hash, there := range map[string]bool{
		"of u 0": false, "of u 1": false, "of u 2": true, "of u 3": true,
		"of u 4": true, "of another": true,
	} {
		_, err := s.SessionByHash(t.Context(), hash, storetest.Noon)
		require.Equal(t, there, err == nil, hash)
	}
}
