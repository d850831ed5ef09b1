package runs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestColoursOfALineEndWithIt(t *testing.T) {
	t.Parallel()
	const line = "\x1b[1;31mred\x1b[m \x1b[32mgreen"
	require.Equal(t, line+"\x1b[0m", coloured(line, true))
	require.Equal(t, "red green", coloured(line, false))
	require.Equal(t, "plain", coloured("plain", true))
}
