package rig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Member is a node of the cluster of a bench. Safe for concurrent use, but for
// starting and ending it.
type Member struct {
	Number uint8
	cfg    config.Config
	shape  Shape
	ledger *measure.Ledger
	// log is the file with what all its lives have logged.
	log string

	command *exec.Cmd
	// alive is closed by nobody: the pipe's other end is the life of this process.
	alive io.Closer
	gone  chan struct{}

	mu         sync.Mutex
	pid        int
	partitions measure.PartitionSet
	port       int
	// ends counts those of former lives, and of this one.
	endsBefore, endsNow int64
}

// Start begins a life. The process has a group of its own, so that a Ctrl-C
// reaches this process alone, which then ends the nodes in order.
func (m *Member) Start() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of a node: %w", err)
	}
	defer func() { _ = log.Close() }()
	m.command = exec.Command(self, node.Command) //nolint:noctx // it outlives the call, and is ended by its pid
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
	m.pid, m.partitions, m.port = m.command.Process.Pid, measure.PartitionSet{}, 0
	m.mu.Unlock()
	m.alive, m.gone = in, make(chan struct{})
	go m.receive(out)
	return json.NewEncoder(in).Encode(node.Settings{
		Config: m.cfg, Served: m.shape.Served, Eager: m.shape.Eager, Calls: m.shape.Calls,
	})
}

// receive reads the records of the process until it ends.
func (m *Member) receive(out io.Reader) {
	defer close(m.gone)
	var seen []measure.StartEvent
	node.ReadRecords(out, func(some []node.Record) {
		seen = seen[:0]
		for i := range some {
			if r := &some[i]; r[0] == node.RecordStart {
				seen = append(seen, r.StartEvent(m.Number))
			} else {
				m.take(r)
			}
		}
		m.ledger.See(seen...)
	})
	_ = m.command.Wait() // how it ended is in its state
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid, m.partitions = 0, measure.PartitionSet{}
	m.endsBefore, m.endsNow = m.endsBefore+m.endsNow, 0
}

func (m *Member) take(r *node.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r[0] {
	case node.RecordEnds:
		m.endsNow = r.Number()
	case node.RecordPartitions:
		m.partitions = r.Partitions()
	case node.RecordPort:
		m.port = int(r.Number())
	}
}

// State is where the node stands; ready says that it has begun to serve.
func (m *Member) State() (p measure.PartitionSet, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.partitions, m.pid != 0 && (m.port != 0 || !m.shape.Served)
}

// ID is the name of the node.
func (m *Member) ID() string { return m.cfg.Node.ID }

// Signal sends a signal to the process, if there is one.
func (m *Member) Signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pid != 0 {
		_ = m.command.Process.Signal(s)
	}
}

// Kill ends the process as kill -9 does, frozen or not, and waits for its last
// words to be read.
func (m *Member) Kill() {
	if m.gone == nil {
		return
	}
	m.Signal(syscall.SIGKILL)
	<-m.gone
	_ = m.alive.Close()
}

// Exited is the error of a process that ended unasked, with the end of its log.
func (m *Member) Exited() error {
	select {
	case <-m.gone:
	default:
		return nil
	}
	return m.WithLog(errors.New("it ended"))
}

// WithLog is what went wrong with the node, with the end of its log.
func (m *Member) WithLog(what error) error {
	raw, _ := os.ReadFile(m.log)
	return fmt.Errorf("node %s: %w: %s", m.ID(), what, raw[max(0, len(raw)-2000):])
}
