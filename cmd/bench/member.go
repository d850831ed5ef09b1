package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// member is a node of the cluster of a bench. Safe for concurrent use, but for
// starting and ending it.
type member struct {
	number uint8
	cfg    config.Config
	shape  shape
	ledger *ledger
	// log is the file with what all its lives have logged.
	log string

	command *exec.Cmd
	// alive is closed by nobody: the pipe's other end is the life of this process.
	alive io.Closer
	gone  chan struct{}

	mu    sync.Mutex
	pid   int
	place place
	port  int
	// ends counts those of former lives, and of this one.
	ends, now int64
}

// start begins a life. The process has a group of its own, so that a Ctrl-C
// reaches this process alone, which then ends the nodes in order.
func (m *member) start() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of a node: %w", err)
	}
	defer func() { _ = log.Close() }()
	m.command = exec.Command(self, NodeCommand) //nolint:noctx // it outlives the call, and is ended by its pid
	m.command.Stderr = log
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := m.command.StdinPipe()
	if err != nil {
		return fmt.Errorf("start a node: %w", err)
	}
	out, err := m.command.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start a node: %w", err)
	}
	if err := m.command.Start(); err != nil {
		return fmt.Errorf("start a node: %w", err)
	}
	m.mu.Lock()
	m.pid, m.place, m.port = m.command.Process.Pid, place{}, 0
	m.mu.Unlock()
	m.alive, m.gone = in, make(chan struct{})
	go m.attend(out)
	return json.NewEncoder(in).Encode(nodeSettings{Config: m.cfg, Served: m.shape.served, Eager: m.shape.eager})
}

// attend takes what the process tells until it ends.
func (m *member) attend(out io.Reader) {
	defer close(m.gone)
	var seen []sighting
	readRecords(out, func(some []record) {
		seen = seen[:0]
		for i := range some {
			if r := &some[i]; r[0] == recordEntry {
				seen = append(seen, r.sighting(m.number))
			} else {
				m.take(r)
			}
		}
		m.ledger.see(seen...)
	})
	_ = m.command.Wait() // how it ended is in its state
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid, m.place = 0, place{}
	m.ends, m.now = m.ends+m.now, 0
}

func (m *member) take(r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r[0] {
	case recordEnds:
		m.now = r.number()
	case recordPlace:
		m.place = r.place()
	case recordServes:
		m.port = int(r.number())
	}
}

// at is where the node stands; ready says that it has begun to serve.
func (m *member) at() (p place, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.place, m.pid != 0 && (m.port != 0 || !m.shape.served)
}

func (m *member) signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pid != 0 {
		_ = m.command.Process.Signal(s)
	}
}

// end ends the process as kill -9 does, frozen or not, and waits for its last
// words to be read.
func (m *member) end() {
	if m.gone == nil {
		return
	}
	m.signal(syscall.SIGKILL)
	<-m.gone
	_ = m.alive.Close()
}

// fell is the error of a process that ended unasked, with the end of its log.
func (m *member) fell() error {
	select {
	case <-m.gone:
	default:
		return nil
	}
	return m.complaint(errors.New("it ended"))
}

// complaint is what went wrong with the node, with the end of its log.
func (m *member) complaint(what error) error {
	raw, _ := os.ReadFile(m.log)
	return fmt.Errorf("node %s: %w: %s", m.cfg.Node.ID, what, raw[max(0, len(raw)-2000):])
}
