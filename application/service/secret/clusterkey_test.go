package secret_test

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

func ring(t *testing.T, keys ...string) *keyring.Keyring {
	t.Helper()
	r, err := keyring.NewKeyring(keys...)
	require.NoError(t, err)
	return r
}

func aKey(t *testing.T) string {
	t.Helper()
	raw := make([]byte, keyring.KeyBytes)
	_, err := rand.Read(raw)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(raw)
}

func TestTheNodesOfAClusterShareOneKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		var mu sync.Mutex
		seen := map[string]int{}
		var starts sync.WaitGroup
		for range 4 { // together, on an empty store
			starts.Go(func() {
				key, err := secret.OpenClusterKey(t.Context(), s, ring(t))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					seen[string(key)]++
				}
			})
		}
		starts.Wait()
		require.Len(t, seen, 1)
		open := func(r *keyring.Keyring) string {
			key, err := secret.OpenClusterKey(t.Context(), s, r)
			require.NoError(t, err)
			return string(key)
		}
		first := open(ring(t))
		require.Equal(t, 4, seen[first])
		sealedBy := func() string {
			k, found, err := s.ClusterKey(t.Context())
			require.NoError(t, err)
			require.True(t, found)
			return k.KeyID
		}
		require.Empty(t, sealedBy())
		old, fresh := aKey(t), aKey(t)
		require.Equal(t, first, open(ring(t, old)), "secrets.key was given")
		require.Equal(t, ring(t, old).Current(), sealedBy())
		require.Equal(t, first, open(ring(t, fresh, old)), "and changed")
		require.Equal(t, ring(t, fresh).Current(), sealedBy())
		_, err := secret.OpenClusterKey(t.Context(), s, ring(t))
		require.ErrorContains(t, err, "PS_SECRETS_KEY")
		_, err = secret.OpenClusterKey(t.Context(), s, ring(t, old))
		require.ErrorIs(t, err, keyring.ErrNoKey)
	})
}
