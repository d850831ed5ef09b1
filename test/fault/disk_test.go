//go:build linux

package fault_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// diskSize is that of the disk which the SQLite node has for itself.
const diskSize = "48m"

// A standalone node whose disk is full loses no fire and keeps running. It answers 503 to what it
// cannot store, and goes on by itself when there is room again.
func TestADiskThatIsFull(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	binary, err := rig.Build(t.Context(), dir)
	require.NoError(t, err)
	// The node lies on a disk of its own, in a namespace of its own: it is gone with it.
	wrapper := filepath.Join(dir, "on-its-disk")
	script := fmt.Sprintf("#!/bin/sh\nmount -t tmpfs -o size=%s,mode=0700 disk '%s' || exit 90\nexec '%s' \"$@\"\n",
		diskSize, data, binary)
	require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o700)) //nolint:gosec // it is run
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	password := "disk-" + rand.Text()
	node := &rig.Node{
		Binary: wrapper, Addr: addr, Attr: rig.OwnNamespace(),
		Env: []string{
			"PS_DATA_DIR=" + data, "PS_AUTH_INITIAL_ADMIN_PASSWORD=" + password, "PS_NODE_ID=disk",
			"PS_LOG_LEVEL=info", "PS_EXECUTOR_HTTP_ALLOWPRIVATE=true",
		},
	}
	target, err := crash.NewTarget(filepath.Join(dir, "calls.jsonl"))
	require.NoError(t, err)
	server := target.Serve()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = target.Close()
	})
	_, err = node.Start(t.Context(), "")
	require.NoError(t, err, "a disk of its own needs the right to mount: %s", node.Stderr())
	t.Cleanup(node.Kill)
	client := &crash.Client{Base: "http://" + addr}
	require.NoError(t, client.Login(t.Context(), password))
	jobs, err := crash.CreateAll(t.Context(), client, server.URL, crash.Size{Copies: 1, Fill: 10})
	require.NoError(t, err)
	hand := &crash.Hand{Job: crash.ByHand(jobs)}

	var refused atomic.Int64
	for round := range 2 {
		time.Sleep(3 * time.Second)
		filler := filepath.Join("/proc", fmt.Sprint(node.Pid()), "root", data, "filler")
		for until := time.Now().Add(time.Duration(4+4*round) * time.Second); time.Now().
			Before(until); time.Sleep(50 * time.Millisecond) {
			fill(t, filler) // what a checkpoint has freed is taken, too
			err := hand.Press(t.Context(), client)
			var status *crash.StatusError
			if errors.As(err, &status) {
				require.Equal(t, http.StatusServiceUnavailable, status.Status, status.Detail)
				refused.Add(1)
			}
			require.False(t, node.Exited(), "the node keeps running: %s", node.Stderr())
		}
		require.NoError(t, os.Remove(filler))
	}
	require.Positive(t, refused.Load(), "the disk was full")
	h, err := crash.Quiet(t.Context(), client, jobs, hand)
	require.NoError(t, err)
	h.Calls = target.Calls()
	require.Zero(t, node.Stop(), "a graceful stop ends with 0")
	summary := history.Summarize(h)
	t.Logf("%d calls refused while the disk was full\n%s", refused.Load(), summary)
	for _, v := range summary.Violations {
		prooftest.Violation(t, "%s: %s", v.Rule, v.Detail)
	}
}

// fill appends to a file until its disk is full.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if errors.Is(err, syscall.ENOSPC) {
		return
	}
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	for piece := make([]byte, 256<<10); len(piece) > 0; {
		if _, err := f.Write(piece); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			piece = piece[:len(piece)/2]
		}
	}
}
