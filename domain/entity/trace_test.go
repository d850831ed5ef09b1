package entity_test

import (
	"strings"
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

// Only what the standard calls valid is taken.
func TestATraceContextIsValidOrNone(t *testing.T) {
	t.Parallel()
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	valid := "00-" + trace + "-" + span + "-01"
	for header, want := range map[string]string{
		valid: valid, "00-" + trace + "-" + span + "-00": "00-" + trace + "-" + span + "-00",
		"cc-" + trace + "-" + span + "-01":             valid,
		"cc-" + trace + "-" + span + "-01-what-is-new": valid,
		"": "", valid + "-more": "", "cc" + valid[2:] + "more": "", "ff" + valid[2:]: "", "0g" + valid[2:]: "",
		strings.ToUpper(valid): "", " " + valid: "", valid[:54]: "", strings.ReplaceAll(valid, "-", "_"): "",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  "",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": "",
		"00-" + trace[:31] + "-" + span + "0-01":              "",
		"00-" + trace + "-" + span + "-0x":                    "",
		"00-" + trace[:31] + "\n-" + span + "-01":             "",
		"cc" + valid[2:] + "-" + strings.Repeat("x", 100_000): valid,
	} {
		require.Equal(t, entity.TraceContext(want), entity.ReadTraceContext(header), "%.80q", header)
	}
	x := &entity.Execution{ID: "019AA7C2-1B2C-8D3E-9f40-5a6b7c8d9e0f", Attempt: 1, Token: 1}
	own := x.TraceParent()
	x.Parent = entity.ReadTraceContext(valid)
	require.Equal(t, trace, x.Parent.TraceID())
	require.Equal(t, span, x.Parent.SpanID())
	require.Equal(t, "00-"+trace+own[35:], x.TraceParent(), "the attempt is the span that it would be without a parent")
	require.Empty(t, entity.TraceContext("").SpanID())
}
