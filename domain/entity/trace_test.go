package entity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const w3c = `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`

func TestTheTraceOfARunIsItsID(t *testing.T) {
	t.Parallel()
	x := &entity.Execution{ID: "019AA7C2-1B2C-8D3E-9f40-5a6b7c8d9e0f", Attempt: 1, Token: 1}
	first := x.TraceParent()
	require.Regexp(t, w3c, first)
	require.Equal(t, "00-019aa7c21b2c8d3e9f405a6b7c8d9e0f-", first[:36])
	require.Equal(t, first, x.TraceParent())
	x.Attempt, x.Token = 2, 2
	second := x.TraceParent()
	require.Equal(t, first[:36], second[:36], "the attempts of a run are one trace")
	require.NotEqual(t, first, second)
}

func TestAnyIDHasATrace(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []string{
		"", "execution-1", "00000000-0000-0000-0000-000000000000",
		"zz9aa7c2-1b2c-8d3e-9f40-5a6b7c8d9e0f",
	} {
		trace := (&entity.Execution{ID: id}).TraceParent()
		require.Regexp(t, w3c, trace)
		require.NotContains(t, trace, "00000000000000000000000000000000")
		require.False(t, seen[trace])
		seen[trace] = true
	}
}
