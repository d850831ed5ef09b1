// Package supervise starts commands in a process of its own, the helper. When the node, the
// helper or a command ends, the others end or are ended. Launcher is the node's side and Main
// is the helper's side; they talk over one socket pair. It needs Linux.
package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// verb says what a message means.
type verb string

const (
	// The node sends these.
	doStart  verb = "start"
	doSignal verb = "signal"
	// The helper sends these.
	didStart verb = "started"
	didFail  verb = "failed"
	didExit  verb = "exit"
	// Both send this: the node beats, the helper answers.
	beat verb = "beat"
)

// message is one packet. The descriptors of doStart travel beside it: stdout, stderr, and the
// order, which may be longer than a packet.
type message struct {
	Verb   verb   `json:"verb"`
	Run    int    `json:"run,omitempty"`
	Signal int    `json:"signal,omitempty"`
	Code   int    `json:"code,omitempty"`
	CPUMs  int64  `json:"cpuMs,omitempty"`
	Memory int64  `json:"memory,omitempty"`
	OOM    bool   `json:"oom,omitempty"`
	Error  string `json:"error,omitempty"`
	// LeftMs, in a beat of the node, is how long it may still act, in ms; 0 is without an end.
	LeftMs int64 `json:"leftMs,omitempty"`
	// Cause tells apart errors that the node treats differently.
	Cause cause `json:"cause,omitempty"`
}

// cause is the kind of a start's error.
type cause string

const (
	causeFolder  cause = "folder"
	causeProgram cause = "program"
)

func causeOf(err error) cause {
	switch {
	case errors.Is(err, command.ErrFolder):
		return causeFolder
	case errors.Is(err, command.ErrProgram):
		return causeProgram
	}
	return ""
}

// failure returns the error of a start for the node's callers.
func (m message) failure() error {
	switch m.Cause {
	case causeFolder:
		return &startError{m.Error, command.ErrFolder}
	case causeProgram:
		return &startError{m.Error, command.ErrProgram}
	}
	return errors.New(m.Error)
}

// startError is the error of a start, with its kind.
type startError struct {
	text string
	kind error
}

// Error implements error.
func (e *startError) Error() string { return e.text }

// Unwrap returns the kind.
func (e *startError) Unwrap() error { return e.kind }

// order is the part of a command.Order that the helper needs.
type order struct {
	Mark    string
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Account command.Account
	Limits  command.Limits
	// Bound is how many processes the user may have if Limits says nothing; 0: nothing is set.
	Bound int64
	// Group is the folder of the run's control group, or empty.
	Group string
}

// maxPacket bounds a message without its descriptors.
const maxPacket = 16 << 10

// link is one end of the socket pair; packets keep their borders. Sends are safe for concurrent
// use; only one goroutine may receive.
type link struct{ conn *net.UnixConn }

func newLink(file *os.File) (*link, error) {
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("use the socket of the helper: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return nil, errors.New("the socket of the helper is of another kind")
	}
	return &link{unixConn}, nil
}

func (l *link) send(m message, files ...*os.File) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	_, _, err = l.conn.WriteMsgUnix(data, rights, nil)
	return err
}

// receive waits for the next packet and returns it with its descriptors.
func (l *link) receive() (m message, files []*os.File, err error) {
	data, oob := make([]byte, maxPacket), make([]byte, syscall.CmsgSpace(3*4))
	n, oobn, _, _, err := l.conn.ReadMsgUnix(data, oob)
	if err != nil {
		return m, nil, err
	}
	if n == 0 {
		return m, nil, net.ErrClosed
	}
	if oobn > 0 {
		if files, err = takeFiles(oob[:oobn]); err != nil {
			return m, nil, err
		}
	}
	return m, files, json.Unmarshal(data[:n], &m)
}

func takeFiles(oob []byte) ([]*os.File, error) {
	parts, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read descriptors: %w", err)
	}
	var files []*os.File
	for i := range parts {
		fds, err := syscall.ParseUnixRights(&parts[i])
		if err != nil {
			return nil, fmt.Errorf("read descriptors: %w", err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

// packOrder puts an order into memory whose descriptor can be sent.
func packOrder(o order) (*os.File, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make room for an order: %w", err)
	}
	f := os.NewFile(uintptr(fd), "order")
	if _, err := f.WriteAt(data, 0); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write an order: %w", err)
	}
	return f, nil
}

// maxOrder is more than the longest order that a definition allows.
const maxOrder = 64 << 20

func unpackOrder(f *os.File) (o order, err error) {
	info, err := f.Stat()
	if err != nil {
		return o, err
	}
	if info.Size() > maxOrder {
		return o, fmt.Errorf("an order of %d bytes is too long", info.Size())
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return o, fmt.Errorf("read an order: %w", err)
	}
	return o, json.Unmarshal(data, &o)
}
