package executortest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Folder is a new folder that every user may enter and this one alone may write, until
// the test ends.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "for-all")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
