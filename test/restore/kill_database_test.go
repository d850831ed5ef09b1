//go:build linux

package restore_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
)

// databaseKills is how many restores into a database are killed, and how many activations of it.
const databaseKills = 4

// A restore into a database that dies leaves the whole store, or one that no server opens. An activation that dies
// leaves one that stands by or is active.
func TestKilledIntoADatabase(t *testing.T) {
	p := build(t)
	if p == nil || !dbtest.HasMySQL(t) {
		return
	}
	live := t.TempDir()
	client, stop := p.on(live).server()
	runs(t, client, ticking(t.Context(), t, client, "ticks"), 30)
	file := p.on(live).backup(t.TempDir(), "--fast")
	stop()
	ledger := ledgerIn(t, file)
	into := func() (q *program, args []string, look func() state, unfinished func() bool) {
		cfg, folder := dbtest.MySQL(t), t.TempDir()
		dsn := filepath.Join(folder, "dsn")
		require.NoError(t, os.WriteFile(dsn, []byte(cfg.DSN+"\n"), 0o600))
		db := dbtest.Raw(t, cfg)
		return p.on(folder, "PS_STORE_DRIVER=mysql", "PS_STORE_DSN="+cfg.DSN),
			[]string{"store", "restore", file, "--without-key", "--to-dsn-file", dsn},
			func() state { return read(t, db) },
			func() bool {
				marked, err := migrate.CopyUnfinished(t.Context(), db)
				require.NoError(t, err)
				return marked
			}
	}
	q, args, _, _ := into()
	whole := took(func() { q.must(args...) })
	half := 0
	for i := range databaseKills {
		q, args, look, unfinished := into()
		if ended := q.killed(rand.N(whole/4), unfinished, args...); !ended {
			if unfinished() {
				half++
				q.refused("interrupted", "server")
				q.refused("interrupted", "store", "activate", "--yes")
				q.must(args...)
			} else { // it was whole before it died
				q.refused("holds data", args...)
			}
		}
		require.False(t, unfinished())
		found := look()
		require.Equal(t, state{"STANDBY", found.nodes, ledger}, found)
		point, mode := "store-mode.before-commit", "STANDBY"
		if i%2 == 0 {
			point, mode = "store-mode.after-commit", "ACTIVE"
		}
		q.diesAt(point, "store", "activate", "--yes")
		require.Equal(t, mode, look().mode)
		require.Contains(t, q.must("store", "activate", "--yes"), "the store is active")
		require.Equal(t, "ACTIVE", look().mode)
	}
	t.Logf("of %d restores into a database %d left half a store; a whole one took %s", databaseKills, half, whole)
	require.Positive(t, half, "some were killed on their way")
}
