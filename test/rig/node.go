package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Build builds the binary with its failpoints into dir and returns its path. It holds no C, as what is shipped.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "platform-scheduler")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "failpoints", "-o", binary,
		"github.com/platform-scheduler/platform-scheduler/cmd/platform-scheduler")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w: %s", err, out)
	}
	return binary, nil
}

// BuildFormer builds the program of a former commit into dir, from the history of
// the repository at root, which must have it.
func BuildFormer(ctx context.Context, root, commit, dir string) (string, error) {
	source := filepath.Join(dir, "former")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	archive := filepath.Join(dir, "former.tar")
	for _, step := range [][]string{
		{"git", "-C", root, "archive", "--output", archive, commit},
		{"tar", "-xf", archive, "-C", source},
		{
			"go", "-C", source, "build", "-tags", "failpoints", "-o", filepath.Join(dir, "former-scheduler"),
			"./cmd/platform-scheduler",
		},
	} {
		if out, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(step, " "), err, out)
		}
	}
	return filepath.Join(dir, "former-scheduler"), nil
}

// Node runs the real server as a process that can be killed. Env may override
// the level of the log, which is warn.
type Node struct {
	Binary string
	Addr   string
	Env    []string
	// Attr may make it another user's; nil: it is of this one.
	Attr *syscall.SysProcAttr

	// Watch are texts; each line of the log that has one is noted.
	Watch []string

	process *exec.Cmd
	exited  chan struct{}
	mu      sync.Mutex
	stderr  bytes.Buffer
	part    []byte
	notes   []string
	began   []time.Time
}

// FreeAddr is a loopback address that nobody listens on.
func FreeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// readyWithin is how long a start may take.
const readyWithin = 20 * time.Second

// ErrStarting says that the process ended before it was ready.
var ErrStarting = errors.New("the server ended before it was ready")

// Start starts the server and waits until it is ready; it returns how long
// that took. failpoint arms one, empty arms none; a process that kills itself
// before it is ready gives ErrStarting.
func (n *Node) Start(ctx context.Context, failpoint string) (time.Duration, error) {
	n.process = exec.Command(n.Binary, "server")
	n.process.Env = append(append(append(os.Environ(), "PS_LOG_LEVEL=warn"), n.Env...), "PS_SERVER_ADDR="+n.Addr,
		"PS_FAILPOINT="+failpoint)
	n.process.Stderr = writer{n}
	n.process.SysProcAttr = n.Attr
	began := n.begin()
	if err := n.process.Start(); err != nil {
		return 0, err
	}
	n.exited = make(chan struct{})
	go func() {
		_ = n.process.Wait()
		close(n.exited)
	}()
	for time.Since(began) < readyWithin {
		select {
		case <-n.exited:
			return 0, ErrStarting
		default:
		}
		if n.answers(ctx) {
			return time.Since(began), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, fmt.Errorf("the server was not ready within %s: %s", readyWithin, n.Stderr())
}

// begin notes when a life begins; a line that the former one could not end is nobody's.
func (n *Node) begin() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := time.Now()
	n.began, n.part = append(n.began, at), nil
	return at
}

func (n *Node) answers(ctx context.Context) bool {
	status, _, err := n.Readiness(ctx)
	return err == nil && status == http.StatusOK
}

// Readiness is the answer of /readyz: its status, and what it says of the parts of the node.
func (n *Node) Readiness(ctx context.Context) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.Addr+"/readyz", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// Kill ends the process as kill -9 does, and waits for its end.
func (n *Node) Kill() {
	_ = n.process.Process.Kill()
	<-n.exited
}

// Pid is the number of the process.
func (n *Node) Pid() int { return n.process.Process.Pid }

// Signal sends a signal to the process, such as SIGSTOP.
func (n *Node) Signal(s syscall.Signal) error { return n.process.Process.Signal(s) }

// ExitedWithin waits for the process to end by itself.
func (n *Node) ExitedWithin(d time.Duration) bool {
	select {
	case <-n.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// Exited reports whether the process has ended.
func (n *Node) Exited() bool {
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// Stop ends the process gracefully and returns its exit code.
func (n *Node) Stop() int {
	_ = n.process.Process.Signal(syscall.SIGTERM)
	if !n.ExitedWithin(60 * time.Second) {
		n.Kill()
	}
	return n.process.ProcessState.ExitCode()
}

// Stderr is what all lives of the node have written there.
func (n *Node) Stderr() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stderr.String()
}

// KilledItself counts the lives that ended at the failpoint.
func (n *Node) KilledItself(point string) int {
	return strings.Count(n.Stderr(), "failpoint: killing the process at "+point+"\n")
}

type writer struct{ n *Node }

func (w writer) Write(p []byte) (int, error) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	w.n.note(p)
	return w.n.stderr.Write(p)
}

// note keeps the lines that are watched for; the beginning of a line waits for its end.
func (n *Node) note(p []byte) {
	if len(n.Watch) == 0 {
		return
	}
	n.part = append(n.part, p...)
	for {
		line, rest, whole := bytes.Cut(n.part, []byte("\n"))
		if !whole {
			return
		}
		text := string(line)
		if slices.ContainsFunc(n.Watch, func(w string) bool { return strings.Contains(text, w) }) {
			n.notes = append(n.notes, text)
		}
		n.part = rest
	}
}

// Notes are the lines that were watched for, of all lives of the node.
func (n *Node) Notes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.notes)
}

// Began is when each life of the node was begun, before any line of it.
func (n *Node) Began() []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.began)
}
