package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

const (
	// maxLine is the longest line that is passed on, in bytes. The rest of a longer line is
	// skipped, so that a stream without line breaks needs no memory.
	maxLine = 8 << 10
	// maxSkip is how much longer a line may be. A longer one is no text, but the output of a
	// program that writes a file.
	maxSkip = 16 << 20
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
)

// stream reads one pipe of a process until its end.
type stream struct {
	pipe *os.File
	kind entity.LogType
	rep  entity.Reporter

	mu   sync.Mutex
	tail []byte
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
	r := bufio.NewReaderSize(&paced{pipe: s.pipe, timer: timer, over: over}, readSize)
	for passed := 0; passed <= entity.LogLimit; {
		line, err := readLine(r)
		if len(line) > 0 || err == nil {
			s.take(line)
			passed += len(line) + 1
		}
		if errors.Is(err, errNoText) {
			s.rep.Log(entity.LogSystem, fmt.Sprintf("… the %s was cut here: it holds a line of more than %d MiB …",
				strings.ToLower(string(s.kind)), maxSkip>>20))
			break
		}
		if err != nil {
			return
		}
	}
	s.drain(r, timer, over)
}

// drain reads output of which only the end will be seen, first the rest in the buffer. Each
// write to a pipe wakes the poller of the runtime. So drain takes this pipe from the poller and
// reads it by the clock.
func (s *stream) drain(r *bufio.Reader, timer clock.Timer, over <-chan struct{}) {
	s.mu.Lock()
	s.drained = true
	s.mu.Unlock()
	left, _ := r.Peek(r.Buffered())
	s.keep(left)
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

// errNoText ends the reading of lines from output that has none.
var errNoText = errors.New("a line without an end")

// readLine reads a line without its end, at most maxLine bytes of it. It fails with errNoText
// when the end does not come within maxSkip more bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for skipped := 0; ; {
		part, err := r.ReadSlice('\n')
		room := min(maxLine-len(line), len(part))
		line = append(line, part[:room]...)
		if skipped += len(part) - room; skipped > maxSkip {
			return line, errNoText
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		return line, err
	}
}

func (s *stream) take(line []byte) {
	text := string(line)
	s.rep.Log(s.kind, text)
	s.mu.Lock()
	s.named.Add(text)
	s.mu.Unlock()
	s.keep(line)
	s.keep([]byte{'\n'})
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
	kept := bytes.TrimSpace(s.tail)
	if s.drained && len(kept) > 0 {
		return string(kept), cause.Line(string(kept))
	}
	return string(kept), s.named.Line()
}
