package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysStayApartWithoutCaseAndUnderscores(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, k := range keys() {
		require.Empty(t, seen[plain(k.name)], k.name)
		seen[plain(k.name)] = k.name
	}
	for name, full := range seen {
		require.Empty(t, seen[name+"file"], "%s: a secret's file could not be told from a key", full)
	}
}

func TestDefaultsPassTheirOwnTable(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{ProfileStandalone, ProfileCluster} {
		c := Defaults(profile)
		for _, k := range keys() {
			v := k.show(&c)
			if items, ok := v.([]string); ok {
				list := make([]any, len(items))
				for i, s := range items {
					list[i] = s
				}
				v = list
			}
			if m, ok := v.(map[string]string); ok {
				require.Empty(t, m)
				continue
			}
			require.NoError(t, k.assign(&c, v), k.name)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("server:\n  addr: ':1'\n", "PS_LOG_LEVEL=x")
	f.Fuzz(func(t *testing.T, file, env string) {
		var problems Problems
		values, _ := readEnviron([]string{env}, &problems)
		c := Defaults(ProfileStandalone)
		for _, k := range keys() {
			if v, ok := values[k.name]; ok {
				_ = k.assign(&c, v)
			}
			_ = k.assign(&c, file)
		}
		_ = c.problems()
		_ = c.Masked()
	})
}
