package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/charset"
)

const (
	// maxTail is how much of the end of a stream becomes the result, in bytes.
	maxTail = 4 << 10
	// readSize is what a pipe holds, and so the most that one read takes.
	readSize = 64 << 10
	// pace is the least time between two reads of a stream. It slows down a command that writes
	// without end: to about 30 MiB a second while its lines are kept, and 500 after that.
	// Otherwise it would keep a core of the server busy.
	pace = 2 * time.Millisecond
	// slowest is the time between two looks at a stream that wrote much and became quiet.
	slowest = 50 * time.Millisecond
	// silence is after how much time without a byte a line is shown that has no end yet, as a
	// prompt has none.
	silence = 2 * time.Second
)

// stream reads one pipe of a process until its end.
type stream struct {
	pipe *os.File
	kind entity.LogType
	rep  entity.Reporter
	// charset is the encoding of the output; "" is UTF-8.
	charset string

	mu    sync.Mutex
	tail  []byte
	lines lines
	// shown means that the log has the current line as it is. heard is when it grew.
	shown bool
	heard time.Duration
	// passed counts the bytes of the lines in the log.
	passed int
	// named finds the line that names an error.
	named cause.Finder
	// drained means that lines are not told apart any more.
	drained bool
}

// paced reads a pipe at most as often as pace allows while its process runs. After that it
// reads without a pause.
type paced struct {
	pipe  io.Reader
	timer clock.Timer
	over  <-chan struct{}
	begun bool
}

// Read implements io.Reader.
func (p *paced) Read(buf []byte) (int, error) {
	if p.begun {
		select {
		case <-p.timer.C():
		case <-p.over:
		}
	}
	n, err := p.pipe.Read(buf)
	p.begun = true
	p.timer.Reset(pace)
	return n, err
}

// read passes lines on until the other end closes the pipe, or the read deadline is over. After
// the limit of the log it keeps only the tail. The caller closes over when the process has
// ended.
func (s *stream) read(c clock.Clock, over <-chan struct{}) {
	defer s.pipe.Close()
	timer := c.NewTimer(pace)
	defer timer.Stop()
	var from io.Reader = &paced{pipe: s.pipe, timer: timer, over: over}
	if s.charset != "" {
		from = charset.Reader(from, s.charset)
	}
	switch err := s.readLines(c, from); {
	case err != nil:
	case s.charset != "":
		s.drainDecoded(from)
	default:
		s.drain(timer, over)
	}
}

// drainDecoded is drain for an output that is decoded: it cannot begin in the middle.
func (s *stream) drainDecoded(r io.Reader) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		s.keep(buf[:n])
		if err != nil {
			return
		}
	}
}

// readLines passes lines on until it cannot read. It returns nil where the rest is not to be
// told apart by lines.
func (s *stream) readLines(c clock.Clock, from io.Reader) error {
	buf := make([]byte, readSize)
	for {
		n, err := from.Read(buf)
		if more := s.take(buf[:n], c.Monotonic()); !more {
			return nil
		}
		if err != nil {
			s.finish()
			return err
		}
	}
}

// take takes what was read. more is false when the log needs no further lines.
func (s *stream) take(data []byte, now time.Duration) (more bool) {
	s.keep(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(data) > 0 {
		s.shown, s.heard = false, now
	}
	err := s.lines.feed(data, s.pass)
	if errors.Is(err, errNoText) {
		s.pass(s.lines.text())
		s.rep.Log(entity.LogSystem, fmt.Sprintf("… the %s was cut here: it holds a line of more than %d MiB …",
			strings.ToLower(string(s.kind)), maxSkip>>20))
	}
	s.drained = err != nil || s.passed > entity.LogLimit
	return !s.drained
}

// pass logs a line; the caller holds the lock.
func (s *stream) pass(line []byte) {
	if s.passed > entity.LogLimit {
		return
	}
	text := string(line)
	s.passed += len(line) + 1
	s.rep.Log(s.kind, text)
	s.named.Add(text)
}

// finish passes on what stands behind the last end of a line.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines.line) > 0 {
		s.pass(s.lines.text())
		s.lines.begin()
	}
}

// show logs the current line before its end is known: one that ended by a carriage return at
// once, another after a silence. The next line of the stream takes its place.
func (s *stream) show(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown || s.drained || len(s.lines.line) == 0 || !s.lines.returned && now-s.heard < silence {
		return
	}
	s.shown = true
	s.rep.Log(s.kind, string(s.lines.text())+"\r")
}

// drain reads output of which only the end will be seen. Each write to a pipe wakes the poller
// of the runtime. So drain takes this pipe from the poller and reads it by the clock.
func (s *stream) drain(timer clock.Timer, over <-chan struct{}) {
	fd, err := dup(s.pipe)
	if err != nil {
		return // the command is told that nobody reads any more
	}
	defer func() { _ = unix.Close(fd) }()
	_ = s.pipe.Close()
	d := newDiscarder(fd)
	defer d.close()
	buf := make([]byte, readSize)
	for wait, ended := pace, false; ; {
		d.discard(maxTail)
		n, err := unix.Read(fd, buf)
		switch {
		case err == nil && n > 0:
			s.keep(buf[:n])
			wait = pace
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && !ended:
			wait = min(2*wait, slowest)
		default:
			return // its end, or nobody is left who writes
		}
		timer.Reset(wait)
		select {
		case <-timer.C():
		case <-over:
			ended = true
		}
	}
}

// dup returns another descriptor of a file, whose reads do not wait.
func dup(f *os.File) (fd int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlled := conn.Control(func(own uintptr) {
		fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(controlled, err)
}

// keep appends to the tail.
func (s *stream) keep(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = text[max(len(text)-maxTail, 0):]
	if over := len(s.tail) + len(text) - maxTail; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
	s.tail = append(s.tail, text...)
}

// end returns the tail of the output, and the line that names the error, else the last one that is not
// empty. Of output that was not told apart by lines only the tail is known.
func (s *stream) end() (tail, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.tail
	if len(kept) == maxTail { // it may begin inside a character
		for range utf8.UTFMax - 1 {
			if utf8.RuneStart(kept[0]) {
				break
			}
			kept = kept[1:]
		}
	}
	kept = bytes.TrimSpace(kept)
	if s.drained && len(kept) > 0 {
		return string(kept), cause.Line(string(kept))
	}
	return string(kept), s.named.Line()
}
