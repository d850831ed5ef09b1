package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The exit code goes with the output, where a process ended by itself.
func TestAnExitCodeIsKeptWithTheOutput(t *testing.T) {
	for script, want := range map[string]any{"exit 0": 0, "exit 3": 3, "exit 4": 4, "kill -9 $$": nil} {
		b := newBench(t)
		got := b.run(t.Context(), `{"script":"`+script+`","interpreter":"sh","successExitCodes":[0,4]}`)
		if want == nil {
			require.Nil(t, got.ExitCode, "a signal ended it")
			continue
		}
		require.NotNil(t, got.ExitCode, script)
		require.Equal(t, want, *got.ExitCode)
	}
}
