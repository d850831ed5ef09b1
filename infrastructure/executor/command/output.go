package command

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxLine is the longest line that is passed on, in bytes; the rest of a
// longer one is skipped, so that a stream without line breaks needs no memory.
const maxLine = 8 << 10

// maxTail is how much of the end of a stream is kept for the result.
const maxTail = 4 << 10

// stream reads one pipe of a process until its end.
type stream struct {
	pipe *os.File
	kind entity.LogType
	rep  entity.Reporter

	mu   sync.Mutex
	tail []byte
	last string
}

// read passes lines on until the pipe is closed at its other end or the read
// deadline is over.
func (s *stream) read() {
	defer s.pipe.Close()
	r := bufio.NewReaderSize(s.pipe, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 || err == nil {
			s.take(line)
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line without its end, at most maxLine bytes of it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := maxLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if err != nil && len(line) > 0 && errors.Is(err, io.EOF) {
			return line, err
		}
		return line, err
	}
}

func (s *stream) take(line []byte) {
	text := string(line)
	s.rep.Log(s.kind, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(bytes.TrimSpace(line)) > 0 {
		s.last = text
	}
	s.tail = append(append(s.tail, line...), '\n')
	if over := len(s.tail) - maxTail; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
}

// end is the last of what was written, and its last line that says something.
func (s *stream) end() (tail, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.TrimSpace(s.tail)), s.last
}
