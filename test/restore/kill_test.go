//go:build linux

package restore_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// The kills of each command: 50 in all.
const (
	backupKills   = 17
	restoreKills  = 17
	activateKills = 16
)

// A process that dies at any moment leaves the whole backup or none, a store that is whole or that no server opens, and
// one that stands by or is active. The source, which runs 100 jobs a second all the while, breaks no rule. A copy that
// stands by makes no call, message or heartbeat before it is activated.
func TestKilledAtEachStep(t *testing.T) {
	p := build(t)
	if p == nil {
		return
	}
	out := newOutside(t)
	s := newSource(t, p, out)
	began := time.Now()
	file := s.backup(t.TempDir(), "--fast")
	taken := time.Now()
	s.killBackups()
	d := s.drill()
	stores := s.killRestores(file)
	time.Sleep(time.Until(taken.Add(silence)))
	s.killActivations(stores[:activateKills], stores[activateKills])
	d.silent()
	messages, heartbeats := out.from(original)
	require.Positive(t, messages, "the receiver hears")
	require.Positive(t, heartbeats)
	t.Logf("%d kills took %s", backupKills+restoreKills+activateKills, time.Since(began).Round(time.Second))
	s.finish()
	d.alone()
	d.activate()
}

// silence is how old the beats of a node are that an activated store takes no node of its own for.
const silence = 62 * time.Second

func took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// moment draws when to kill a command that takes so long: half of the times from its begin on, and half after it has
// begun to write a file.
func moment(t *testing.T, round int, whole time.Duration, file string) (after time.Duration, begun func() bool) {
	if round%2 == 0 {
		return rand.N(whole * 5 / 4), atOnce
	}
	return rand.N(whole / 6), func() bool { return exists(t, file) } // the writing is the lesser part of a restore
}

// killBackups kills backups of the source. Each leaves a whole one or none, and does not disturb the next one.
func (s *source) killBackups() {
	s.t.Helper()
	whole := took(func() { s.backup(s.t.TempDir(), "--fast") })
	ended, half := 0, 0
	for i := range backupKills {
		s.press()
		folder := s.t.TempDir()
		after, begun := moment(s.t, i, whole, filepath.Join(folder, "*.part"))
		if s.killed(after, begun, "store", "backup", folder, "--fast") {
			ended++
		}
		found, err := filepath.Glob(filepath.Join(folder, "*.db"))
		require.NoError(s.t, err)
		for _, name := range found {
			s.must("store", "verify", name)
		}
		if exists(s.t, filepath.Join(folder, "*.part")) {
			half++
		}
		s.backup(folder, "--fast")
		require.NoError(s.t, os.RemoveAll(folder)) // the source grows
	}
	s.t.Logf("of %d backups %d ended, and %d left half a file", backupKills, ended, half)
	require.Less(s.t, ended, backupKills)
	require.Positive(s.t, half, "some were killed on their way")
}

// killRestores kills restores of a file, starts them over, and returns the stores.
func (s *source) killRestores(file string) (stores []string) {
	s.t.Helper()
	sum, ledger := hashOf(s.t, file), ledgerIn(s.t, file)
	whole := took(func() { s.plain.on(s.t.TempDir()).must("store", "restore", file, "--without-key") })
	ended, half := 0, 0
	for i := range restoreKills {
		s.press()
		to := s.t.TempDir()
		q, store := s.plain.on(to), filepath.Join(to, datafolder.DatabaseFile)
		after, begun := moment(s.t, i, whole, store+".restoring")
		q.killed(after, begun, "store", "restore", file, "--without-key")
		require.Equal(s.t, sum, hashOf(s.t, file), "the backup is as it was")
		if exists(s.t, store) {
			ended++
		} else {
			if exists(s.t, store+".restoring") {
				half++
				q.refused("interrupted", "server")
				q.refused("interrupted", "store", "activate", "--yes")
			}
			q.must("store", "restore", file, "--without-key")
		}
		require.Equal(s.t, state{"STANDBY", 1, ledger}, stateOf(s.t, to))
		stores = append(stores, to)
	}
	s.t.Logf("of %d restores %d ended, and %d left half a store", restoreKills, ended, half)
	require.Less(s.t, ended, restoreKills)
	require.Positive(s.t, half, "some were killed on their way")
	return stores
}

// killActivations kills the activation of stores, at any moment and beside its commit. Each still stands by or is
// active as a whole, and another activation succeeds.
func (s *source) killActivations(stores []string, spare string) {
	s.t.Helper()
	ledger := stateOf(s.t, spare).ledger
	whole := took(func() { s.plain.on(spare).must("store", "activate", "--yes") })
	halted, active := state{"STANDBY", 1, ledger}, state{"ACTIVE", 0, ledger}
	left := map[string]int{}
	for i, to := range stores {
		s.press()
		allowed := []state{halted, active}
		switch i % 4 {
		case 0:
			s.plain.on(to).diesAt("store-mode.before-commit", "store", "activate", "--yes")
			allowed = []state{halted}
		case 1:
			s.plain.on(to).diesAt("store-mode.after-commit", "store", "activate", "--yes")
			allowed = []state{active}
		default:
			s.plain.on(to).killed(rand.N(whole*5/4), atOnce, "store", "activate", "--yes")
		}
		found := stateOf(s.t, to)
		require.Contains(s.t, allowed, found, "it stands by or is active as a whole")
		left[found.mode]++
		require.Contains(s.t, s.plain.on(to).must("store", "activate", "--yes"), "the store is active")
		require.Equal(s.t, active, stateOf(s.t, to))
	}
	s.t.Logf("of %d stores %v after their activation was killed", len(stores), left)
	require.Len(s.t, left, 2, "some were killed before it, and some after")
}

// diesAt runs the program, which kills itself at a failpoint.
func (p *program) diesAt(point string, args ...string) {
	p.t.Helper()
	q := *p
	q.env = append(slices.Clone(p.env), "PS_FAILPOINT="+point+"=kill@1")
	q.refused("killing the process at "+point, args...)
}

// state is what a store says: its mode, how many nodes have an address, and a sum of all runs. An activation changes
// the first two together.
type state struct {
	mode   string
	nodes  int64
	ledger string
}

// stateOf reads a copy of the store, so that its next user finds what a killed process left.
func stateOf(t *testing.T, folder string) state {
	t.Helper()
	beside, err := os.MkdirTemp(t.TempDir(), "read-")
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(beside) }()
	require.NoError(t, os.CopyFS(beside, os.DirFS(folder)))
	db, err := connect.SQLite(t.Context(), filepath.Join(beside, datafolder.DatabaseFile), 1)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	return read(t, db)
}

// read reads the state of a store of any kind.
func read(t *testing.T, db *sql.DB) (found state) {
	t.Helper()
	found.ledger = ledgerOf(t, db)
	err := db.QueryRowContext(t.Context(), "SELECT (SELECT mode FROM scheduler_store_state), (SELECT COUNT(*) FROM "+
		"scheduler_node_registry WHERE node_port <> 0)").Scan(&found.mode, &found.nodes)
	require.NoError(t, err)
	return found
}

// ledgerOf is a sum of the runs in a store.
func ledgerOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := sqlvalue.Texts(t.Context(), db, "SELECT CONCAT(id, ' ', status, ' ', attempt) FROM "+
		"scheduler_job_execution ORDER BY id")
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	return fmt.Sprintf("%d %x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
}

// ledgerIn is ledgerOf of a backup, of which nothing changes.
func ledgerIn(t *testing.T, file string) string {
	t.Helper()
	db, err := connect.SQLiteUnchanged(t.Context(), file)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	return ledgerOf(t, db)
}

func hashOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// drill is a server on a copy of the source, beside it.
type drill struct {
	*program
	out    *outside
	client *crash.Client
	node   *rig.Node
	job    string
	// waits is a run that somebody starts while the copy stands by, runs how many its job has then.
	waits string
	runs  int
}

// drill restores a backup of this moment, and starts a server on it. Its jobs are due, a message waits, and a heartbeat
// is due, too: the rules of alerting were evaluated within a minute.
func (s *source) drill() *drill {
	s.t.Helper()
	folder := filepath.Join(s.t.TempDir(), "drill")
	copyKey(s.t, s.data, folder)
	d := &drill{program: s.plain.on(folder, s.out.settings(standing)...), out: s.out, job: s.calling()}
	s.holdMessage()
	file := s.backup(s.t.TempDir(), "--fast")
	s.out.refuse(false)
	d.must("store", "restore", file)
	require.Positive(s.t, waiting(s.t, filepath.Join(folder, datafolder.DatabaseFile)), "a message waits in the copy")
	d.client, d.node = d.serve()
	var err error
	d.waits, err = d.client.Trigger(s.t.Context(), d.job, "copy")
	require.NoError(s.t, err)
	rows, err := d.client.Executions(s.t.Context(), d.job)
	require.NoError(s.t, err)
	d.runs = len(rows)
	d.silent()
	return d
}

// waiting is how many messages wait in a store that nobody has opened yet.
func waiting(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := connect.SQLiteUnchanged(t.Context(), path)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM scheduler_notification WHERE state = 'OPEN'").Scan(&n)
	require.NoError(t, err)
	return n
}

// silent requires that the copy stands by, has written no run, and has told nobody.
func (d *drill) silent() {
	d.t.Helper()
	_, body, err := d.node.Readiness(d.t.Context())
	require.NoError(d.t, err)
	require.Contains(d.t, body, "standby")
	rows, err := d.client.Executions(d.t.Context(), d.job)
	require.NoError(d.t, err)
	require.Len(d.t, rows, d.runs, "it fires nothing")
	row, err := d.client.Execution(d.t.Context(), d.waits)
	require.NoError(d.t, err)
	require.Equal(d.t, "WAITING", row.Status)
	require.Zero(d.t, d.out.called(d.waits))
	messages, heartbeats := d.out.from(standing)
	require.Zero(d.t, messages, "it tells nobody")
	require.Zero(d.t, heartbeats)
}

// alone requires that nothing comes from the copy when the source has stopped, and after an activation that was killed
// before its commit.
func (d *drill) alone() {
	d.t.Helper()
	calls := d.out.called("")
	messages, heartbeats := d.out.from("")
	for range 2 {
		time.Sleep(5 * time.Second)
		d.silent()
		require.Equal(d.t, calls, d.out.called(""), "nobody calls")
		m, h := d.out.from("")
		require.Equal(d.t, []int{messages, heartbeats}, []int{m, h}, "nobody is told")
		d.diesAt("store-mode.before-commit", "store", "activate", "--yes")
	}
}

// activate ends the standby: calls, messages and heartbeats come.
func (d *drill) activate() {
	d.t.Helper()
	calls := d.out.called("")
	require.Contains(d.t, d.must("store", "activate", "--yes"), "the store is active")
	began := time.Now()
	d.until(30*time.Second, "it calls", func() bool {
		return d.out.called(d.waits) == 1 && d.out.called("") > calls+perSecond
	})
	d.until(90*time.Second, "it tells", func() bool {
		messages, heartbeats := d.out.from(standing)
		return messages > 0 && heartbeats > 0
	})
	messages, heartbeats := d.out.from(standing)
	d.t.Logf("%s after it was activated, the copy had made %d calls, %d messages and %d heartbeats",
		time.Since(began).Round(time.Second), d.out.called("")-calls, messages, heartbeats)
}

func (d *drill) until(span time.Duration, what string, is func() bool) {
	d.t.Helper()
	require.Eventually(d.t, is, span, 200*time.Millisecond, what)
}
