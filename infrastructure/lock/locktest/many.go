package locktest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// partitions names as many locks as one claim may hold.
func partitions(prefix string) []string {
	names := make([]string, repository.MaxLockNames)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}

func claim(t *testing.T, l repository.Locker, names []string, holder string) []string {
	t.Helper()
	granted, err := l.ClaimMany(t.Context(), names, holder, long)
	require.NoError(t, err)
	return granted
}

func many(t *testing.T, s Subject) {
	all := partitions("many/")
	require.Equal(t, all, claim(t, s.One, all, "a"), "all are free, and come back in their order")
	require.Empty(t, claim(t, s.Two, all, "b"))
	require.Equal(t, all, claim(t, s.Two, all, "a"), "what the holder has is renewed, from wherever it asks")
	require.NoError(t, s.Two.ReleaseMany(t.Context(), all, "b"))
	require.Empty(t, claim(t, s.Two, all, "b"), "nobody releases what others have")
	require.NoError(t, s.One.ReleaseMany(t.Context(), all[100:], "a"))
	require.Equal(t, all[100:], claim(t, s.Two, all, "b"))
	require.Equal(t, all[:100], claim(t, s.One, all, "a"))
	require.NoError(t, s.One.ReleaseMany(t.Context(), append([]string{"unheard of"}, all[:255]...), "a"))
	require.Equal(t, all[:1], claim(t, s.Two, all[:1], "c"))

	some := all[:3]
	require.NoError(t, s.One.ReleaseMany(t.Context(), some, "c"))
	granted, err := s.One.ClaimMany(t.Context(), some, "a", short)
	require.NoError(t, err)
	require.Equal(t, some, granted)
	s.Pass(2 * short)
	require.Equal(t, some, claim(t, s.Two, some, "c"), "claims run out too")
}

// claimsMeet lets four holders fight for the same locks; each grant is checked
// against who has it while nobody gives anything back.
func claimsMeet(t *testing.T, s Subject) {
	all := partitions("meet/")
	owner := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	random := randtest.New(t)
	for n := range 4 {
		l, holder := s.One, fmt.Sprint("holder-", n)
		if n%2 == 1 {
			l = s.Two
		}
		wg.Go(func() {
			for range 4 {
				names := append([]string(nil), all...)
				random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
				granted, err := l.ClaimMany(t.Context(), names[:64], holder, long)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, name := range granted {
					if had := owner[name]; had != "" && had != holder {
						t.Errorf("%s was granted to %s and to %s", name, had, holder)
					}
					owner[name] = holder
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, owner)
}

func claimedAreLocks(t *testing.T, s Subject) {
	lease := take(t, s.One, "single", "a", long)
	require.Equal(t, []string{"other"}, claim(t, s.Two, []string{"single", "other"}, "b"),
		"one set of locks, however they are taken")
	refused(t, s.One, "other", "a")
	require.Equal(t, []string{"single"}, claim(t, s.Two, []string{"single", "other"}, "a"))
	unlock(t, true, s.One, lease) // a claim of the holder's own lock keeps the token
	require.Equal(t, []string{"single"}, claim(t, s.Two, []string{"single"}, "b"))
	require.NoError(t, s.Two.ReleaseMany(t.Context(), []string{"single", "other"}, "b"))
	next := take(t, s.One, "single", "a", long)
	require.Greater(t, next.Token, lease.Token+1, "a claim takes a token as well")
}
