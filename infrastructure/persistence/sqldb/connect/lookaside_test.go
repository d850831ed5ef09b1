package connect

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConnectionsHaveMoreBuffersFromTheFirstOn(t *testing.T) {
	db, err := SQLite(t.Context(), filepath.Join(t.TempDir(), "a.db"), 1)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.True(t, widenLookaside(), "SQLite took it before its first connection")
}
