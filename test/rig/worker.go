package rig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Worker is a worker of the rig: a process that reaches each node through a proxy of its own. Its methods are for one
// caller at a time.
type Worker struct {
	// ID is what the product calls it, Instance what it calls itself.
	ID, Instance string
	// Ways lead to the nodes, in their order.
	Ways []*Proxy

	binary string
	env    []string
	cmd    *exec.Cmd
	exited chan struct{}
	mu     sync.Mutex
	stderr bytes.Buffer
	starts int
}

// The programs that are workers, as folders of the repository: ShopWorker has the handlers of the nodes of the fault
// test, GoWorker those of the conformance suite.
const (
	ShopWorker = "test/fault/shop"
	GoWorker   = "test/conformance/goworker"
)

// BuildWorker builds one of them into dir.
func BuildWorker(ctx context.Context, dir, program string) (string, error) {
	binary := filepath.Join(dir, filepath.Base(program))
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "failpoints", "-o", binary,
		"github.com/platform-scheduler/platform-scheduler/"+program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w: %s", err, out)
	}
	return binary, nil
}

// Hire makes a worker of a group; it does not run before Start.
func (r *Rig) Hire(binary, group, token, instance string, handlers ...string) (*Worker, error) {
	w := &Worker{Instance: instance, binary: binary}
	servers := make([]string, 0, len(r.Members))
	for _, m := range r.Members {
		way, err := NewProxy(m.Node.Addr)
		if err != nil {
			return nil, err
		}
		w.Ways = append(w.Ways, way)
		servers = append(servers, "http://"+way.Addr())
	}
	w.env = []string{
		"PS_SERVERS=" + strings.Join(servers, ","), "PS_GROUP=" + group, "PS_TOKEN=" + token, "PS_INSTANCE=" + instance,
		"PS_FAILPOINT_HANDLERS=" + strings.Join(handlers, ","),
	}
	if r.WorkerSlots > 0 {
		w.env = append(w.env, fmt.Sprintf("PS_SLOTS=%d", r.WorkerSlots))
	}
	r.Workers = append(r.Workers, w)
	return w, nil
}

// Env adds to the environment of the processes that start from now on.
func (w *Worker) Env(more ...string) { w.env = append(w.env, more...) }

// Start starts the process unless it runs. fell reports that the former one had ended by itself.
func (w *Worker) Start() (fell bool, err error) {
	if w.cmd != nil {
		select {
		case <-w.exited:
			fell = true
		default:
			return false, nil
		}
	}
	w.cmd = exec.Command(w.binary)
	w.cmd.Env = append(os.Environ(), w.env...)
	w.cmd.Stderr = said{w}
	if err := w.cmd.Start(); err != nil {
		return fell, fmt.Errorf("start the worker %s: %w", w.Instance, err)
	}
	w.starts++
	cmd, exited := w.cmd, make(chan struct{})
	w.exited = exited
	go func() {
		_ = cmd.Wait() // the code says it
		close(exited)
	}()
	return fell, nil
}

// said keeps what the process writes.
type said struct{ *Worker }

// Write implements io.Writer.
func (s said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.Write(p)
}

// Starts is how many processes were started.
func (w *Worker) Starts() int { return w.starts }

// Kill ends the process as kill -9 does.
func (w *Worker) Kill() {
	if w.cmd != nil {
		w.signal(syscall.SIGKILL)
		<-w.exited
		w.cmd = nil
	}
}

// Stop ends the process gracefully, within a minute, and returns its exit code.
func (w *Worker) Stop() (code int) {
	if w.cmd == nil {
		return 0
	}
	w.signal(syscall.SIGTERM)
	select {
	case <-w.exited:
		code = w.cmd.ProcessState.ExitCode()
		w.cmd = nil
	case <-time.After(time.Minute):
		w.Kill()
		code = -1
	}
	return code
}

// Freeze stops the process where it is, Thaw lets it go on.
func (w *Worker) Freeze() { w.signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (w *Worker) Thaw() { w.signal(syscall.SIGCONT) }

func (w *Worker) signal(s syscall.Signal) {
	if w.cmd != nil {
		_ = w.cmd.Process.Signal(s) // it may have ended
	}
}

// Set sets all ways to the nodes.
func (w *Worker) Set(mode Mode) {
	for _, way := range w.Ways {
		way.Set(mode)
	}
}

// close ends the process, and keeps what it has said in dir.
func (w *Worker) close(dir string) {
	w.Kill()
	for _, way := range w.Ways {
		way.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = os.WriteFile(filepath.Join(dir, "worker-"+w.Instance+".log"), w.stderr.Bytes(), 0o600)
}
