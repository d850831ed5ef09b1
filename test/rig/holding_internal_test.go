package rig

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The table names a connection again when others come and go while it is read.
func TestAConnectionCountsOnce(t *testing.T) {
	const row = "   1: 0100007F:%s 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 "
	table := row + "11 1\n" + row + "12 1\n" + row + "11 1\n" + row + "13 1\n"
	require.Equal(t, 2, countTo(table, 8080, map[string]bool{"11": true, "12": true}), "13 is another process's")
	require.Zero(t, countTo(table, 8081, map[string]bool{"11": true}))
}
