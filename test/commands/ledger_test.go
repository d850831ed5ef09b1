//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/commands"
)

func read(t *testing.T, text string) []commands.Beat {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	beats, err := commands.ReadLedger(file)
	require.NoError(t, err)
	return beats
}

func TestAnAttemptThatBeganTooEarlyIsFound(t *testing.T) {
	good := "a 1 plain 10 100\na 1 child 11 150\nb 1 plain 12 120\na 2 plain 13 151\nb 1 plain 12 400\n"
	require.Empty(t, commands.Overlaps(read(t, good)))
	require.Equal(t, map[string]int{"a": 2, "b": 1}, commands.Attempts(read(t, good)))
	require.Len(t, commands.Overlaps(read(t, good+"a 1 child 11 151\n")), 1, "a child of the first attempt still worked")
	require.Len(t, commands.Overlaps(read(t, good+"a 3 plain 14 300\na 1 child 11 301\n")), 2)
}

func TestALineThatIsNotWholeYetIsLeftOut(t *testing.T) {
	require.Len(t, read(t, "a 1 plain 10 100\na 1 pl"), 1)
	require.Empty(t, read(t, "a 1"))
	file := filepath.Join(t.TempDir(), "ledger")
	require.NoError(t, os.WriteFile(file, []byte("a 1 plain x 100\n"), 0o600))
	_, err := commands.ReadLedger(file)
	require.Error(t, err)
}
