package chain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// The first circle that can be reached is found, in the order of its edges, and ways that meet again are none.
func TestCircle(t *testing.T) {
	for edges, want := range map[string]struct {
		from, circle string
		at           int
	}{
		"":                     {"a b", "", 0},
		"aa":                   {"a", "a a", 0},
		"ab ba":                {"a b", "a b a", 0},
		"ab bc ca":             {"c", "c a b c", 0},
		"ab bc cb":             {"a", "b c b", 0},
		"ab ac bd cd":          {"a b c d", "", 0},
		"ab ac bd cd da":       {"a", "a b d a", 0},
		"ab cd dc":             {"a b c d", "c d c", 2},
		"ab bc cd de ef fg gd": {"a", "d e f g d", 0},
	} {
		next := map[string][]string{}
		for _, e := range strings.Fields(edges) {
			next[e[:1]] = append(next[e[:1]], e[1:])
		}
		at, circle := chain.Circle(strings.Fields(want.from), func(k string) []string { return next[k] })
		require.Equal(t, want.circle, strings.Join(circle, " "), edges)
		require.Equal(t, want.at, at, edges)
	}
	require.Equal(t, "a → b → a is a circle; take one of these steps away", chain.Circular([]string{"a", "b", "a"}))
}
