//go:build linux

package commands_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/test/commands"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == commands.NastyCommand {
		if err := commands.Nasty(os.Args[2:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// abreast is how many nodes go through faults at the same time: most of a round
// is the wait for a lease.
const abreast = 8

// TestMatrix strikes nodes and helpers while commands of every nasty kind run.
// PS_MATRIX_ROUNDS is how many rounds there are in all; one of each fault
// without it.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test and make matrix")
		return
	}
	rounds := len(commands.Faults())
	if text := os.Getenv("PS_MATRIX_ROUNDS"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err, "PS_MATRIX_ROUNDS")
	}
	work := make(chan commands.Fault, rounds)
	for i := range rounds {
		work <- commands.Faults()[i%len(commands.Faults())]
	}
	close(work)
	binary, err := rig.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	player := playerForAll(t)
	var mu sync.Mutex
	var all []commands.Round
	var nodes sync.WaitGroup
	for i := range min(abreast, rounds) {
		m := newMatrix(t, binary, player, i)
		nodes.Go(func() {
			for fault := range work {
				r, err := m.Round(t.Context(), fault)
				mu.Lock()
				all = append(all, r)
				mu.Unlock()
				if err != nil {
					t.Errorf("%s: %v\n%s", fault, err, m.Node.Stderr())
					return
				}
			}
		})
	}
	nodes.Wait()
	report(t, all)
}

func report(t *testing.T, all []commands.Round) {
	t.Helper()
	for _, fault := range commands.Faults() {
		var gone, retried []time.Duration
		violations := 0
		for _, r := range all {
			if r.Fault != fault {
				continue
			}
			gone, retried = append(gone, r.Gone), append(retried, r.Retried)
			violations += len(r.Violations)
			for _, v := range r.Violations {
				prooftest.Violation(t, "%s: %s", fault, v)
			}
		}
		if len(gone) == 0 {
			continue
		}
		slices.Sort(gone)
		slices.Sort(retried)
		t.Logf("%-22s %3d rounds, %d kinds of command each: %d violations; all gone after p50 %s, max %s; working again "+
			"after p50 %s, max %s",
			fault, len(gone), len(commands.Kinds()), violations, round(gone[len(gone)/2]), round(gone[len(gone)-1]),
			round(retried[len(retried)/2]), round(retried[len(retried)-1]))
	}
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// playerForAll is a copy of this program that every user may run.
func playerForAll(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	file := filepath.Join(executortest.Folder(t), "player")
	require.NoError(t, os.WriteFile(file, data, 0o755))
	return file
}

func newMatrix(t *testing.T, binary, player string, i int) *commands.Matrix {
	t.Helper()
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	password := "matrix-" + rand.Text()
	id := fmt.Sprintf("matrix-%d-%d", os.Getpid(), i)
	ledger := filepath.Join(executortest.Folder(t), "ledger")
	require.NoError(t, os.WriteFile(ledger, nil, 0o666))
	require.NoError(t, os.Chmod(ledger, 0o666))
	env := []string{
		"PS_DATA_DIR=" + t.TempDir(), "PS_AUTH_INITIAL_ADMIN_PASSWORD=" + password, "PS_NODE_ID=" + id,
		"PS_EXECUTOR_COMMAND_SLOTS=64",
	}
	if os.Geteuid() == 0 {
		env = append(env, "PS_EXECUTOR_COMMAND_USER=nobody")
	}
	m := &commands.Matrix{
		Node: &rig.Node{Binary: binary, Addr: addr, Env: env}, Client: &crash.Client{Base: "http://" + addr},
		Helper: executors.HelperCommand, Player: player, Ledger: ledger, Log: t.Logf,
	}
	_, err = m.Node.Start(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() {
		m.Node.Kill()
		require.Eventually(t, func() bool { return len(commands.Alive(ledger)) == 0 }, 20*time.Second, 10*time.Millisecond)
		folders, _ := filepath.Glob(filepath.Join(os.TempDir(), "platform-scheduler-"+id+".*"))
		for _, folder := range folders {
			_ = os.RemoveAll(folder)
		}
	})
	require.NoError(t, m.Client.Login(t.Context(), password))
	require.NoError(t, m.Prepare(t.Context()))
	return m
}
