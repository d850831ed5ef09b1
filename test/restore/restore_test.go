//go:build linux

// Package restore_test walks the ways of docs/restore.md with the built program.
package restore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// The way "A drill": the backup of a server that works, looked at beside it.
func TestADrill(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	live, drill, backups := t.TempDir(), filepath.Join(t.TempDir(), "drill"), t.TempDir()
	client, _ := p.on(live).server()
	job := ticking(t.Context(), t, client, "ticks")
	runs(t, client, job, 5)
	file := p.on(live).backup(backups)
	require.Contains(t, p.on(t.TempDir()).must("store", "verify", file), "is whole")
	copyKey(t, live, drill)
	p.on(t.TempDir()).must("store", "restore", file, "--to", drill)
	require.Contains(t, p.on(drill).must("store", "size"), "scheduler_job_execution")
	looked, _ := p.on(drill).server()
	before, err := looked.Executions(t.Context(), job)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(before), 5)
	now, err := client.Executions(t.Context(), job)
	require.NoError(t, err)
	runs(t, client, job, len(now)+5) // the original goes on
	after, err := looked.Executions(t.Context(), job)
	require.NoError(t, err)
	require.Len(t, after, len(before), "the drill fires nothing")
}

// The way "A disaster": the store is gone, and its last backup goes on.
func TestADisaster(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	live, again, backups := t.TempDir(), t.TempDir(), t.TempDir()
	client, kill := p.on(live).server()
	job, dangerous := ticking(t.Context(), t, client, "ticks"), ticking(t.Context(), t, client, "invoices")
	runs(t, client, job, 5)
	file := p.on(live).backup(backups)
	kill()
	copyKey(t, live, again)
	require.NoError(t, os.RemoveAll(live))
	p.on(again).must("store", "restore", file)
	client, stop := p.on(again).server()
	rows, err := client.Executions(t.Context(), job)
	require.NoError(t, err)
	time.Sleep(2 * time.Second) // fires are missed
	_, err = client.Pause(t.Context(), dangerous)
	require.NoError(t, err)
	before, err := client.Executions(t.Context(), dangerous)
	require.NoError(t, err)
	p.on(again).refused("--yes", "store", "activate")
	out := p.on(again).must("store", "activate", "--yes")
	require.Contains(t, out, "ticks")
	runs(t, client, job, len(rows)+5)
	after, err := client.Executions(t.Context(), dangerous)
	require.NoError(t, err)
	require.Len(t, after, len(before), "what was paused does not run")
	p.on(again).refused("in use by another server", "store", "restore", file)
	stop()
	p.on(again).refused("name an empty data folder", "store", "restore", file)
}

// The way "A new server": a standalone moves to another store, here to a database where there is one.
func TestANewServer(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	old, next, backups := t.TempDir(), t.TempDir(), t.TempDir()
	client, stop := p.on(old).server()
	job := ticking(t.Context(), t, client, "ticks")
	runs(t, client, job, 5)
	p.on(old).must("store", "standby", "--reason", "moving")
	file := p.on(old).backup(backups)
	stop()
	copyKey(t, old, next)
	q := p.on(next)
	if dbtest.HasMySQL(t) {
		to := dbtest.MySQL(t)
		dsn := filepath.Join(next, "dsn")
		require.NoError(t, os.WriteFile(dsn, []byte(to.DSN+"\n"), 0o600))
		q.must("store", "restore", file, "--to-dsn-file", dsn)
		q = p.on(next, "PS_STORE_DRIVER=mysql", "PS_STORE_DSN="+to.DSN)
	} else {
		q.must("store", "restore", file)
	}
	client, _ = q.server()
	rows, err := client.Executions(t.Context(), job)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(rows), 5)
	q.must("store", "activate", "--yes")
	runs(t, client, job, len(rows)+5)
}

// The way "The key is lost": the secrets stay closed, and everything else is there.
func TestTheKeyIsLost(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	live, again, backups := t.TempDir(), t.TempDir(), t.TempDir()
	client, stop := p.on(live).server()
	require.NoError(t, client.Call(t.Context(), "POST", "/api/v1/secrets",
		map[string]any{"name": "db", "value": "hidden-7731"}))
	job := ticking(t.Context(), t, client, "ticks")
	runs(t, client, job, 3)
	file := p.on(live).backup(backups)
	stop()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(data), "hidden-7731")
	p.on(again).refused("--without-key", "store", "restore", file)
	require.NoFileExists(t, filepath.Join(again, datafolder.DatabaseFile))
	p.on(again).must("store", "restore", file, "--without-key")
	client, _ = p.on(again).server()
	require.NoError(t, client.Call(t.Context(), "PUT", "/api/v1/secrets/db",
		map[string]any{"value": "another-7731", "version": 1}))
	p.on(again).must("store", "activate", "--yes")
	runs(t, client, job, 5)
}

// A backup that a user or a service manager ends leaves nothing.
func TestABackupThatIsToldToEndCleansUp(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	live, folder := t.TempDir(), t.TempDir()
	client, _ := p.on(live).server()
	runs(t, client, ticking(t.Context(), t, client, "ticks"), 3)
	db := opened(t, live, "")
	grow(t, db, true, 40)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := exec.CommandContext(t.Context(), p.binary, "store", "backup", folder)
		cmd.Env = append(os.Environ(), p.on(live).env...)
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			found, err := filepath.Glob(filepath.Join(folder, "*.part"))
			return err == nil && len(found) == 1
		}, 20*time.Second, 10*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		require.Error(t, cmd.Wait())
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, signal)
	}
}

// A disk that fills is no half backup.
func TestADiskThatFills(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	live, folder := t.TempDir(), t.TempDir()
	client, _ := p.on(live).server()
	runs(t, client, ticking(t.Context(), t, client, "ticks"), 3)
	script := fmt.Sprintf("mount -t tmpfs -o size=256k disk '%s' || exit 90; '%s' store backup '%s'; echo \"ended $?\"; ls -A '%s'",
		folder, p.binary, folder, folder)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env = append(os.Environ(), p.on(live).env...)
	cmd.SysProcAttr = rig.OwnNamespace()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "full")
	said, left, _ := strings.Cut(string(out), "ended 1\n")
	require.NotEmpty(t, said)
	require.Empty(t, left, "nothing of it is left")
}
