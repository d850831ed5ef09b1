package worker

import (
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// keptLines bounds the lines of an attempt that no server has yet, in bytes. Then the oldest go.
	keptLines = 256 << 10
	// sentLines bounds the lines of an attempt in one report, in bytes.
	sentLines = 64 << 10
)

// lines are those of an attempt's log that no server has confirmed.
type lines struct {
	// first is the number of kept[0], or of the next line where none is kept. Numbers begin with 1.
	first int64
	kept  []string
	bytes int
	// dropped counts the lines that the mark in kept[0] stands for; 0: there is none.
	dropped int64
}

// add takes a text of one or more lines.
func (l *lines) add(text string) {
	for line, returned := range validation.Lines(text) {
		mark := ""
		if returned {
			mark = validation.Replaced // the next line takes its place, which is the server's affair
		}
		l.keep(validation.LogLine(line, entity.MaxLogLine-len(mark)) + mark)
	}
}

func (l *lines) keep(line string) {
	l.kept = append(l.kept, line)
	l.bytes += len(line) + 1
	if l.bytes <= keptLines {
		return
	}
	marked := l.dropped > 0 // the first one is the mark already
	for l.bytes > keptLines && len(l.kept) > 2 {
		l.bytes -= len(l.kept[0]) + 1
		l.kept = l.kept[1:]
		l.first++
		if !marked {
			l.dropped++
		}
		marked = false
	}
	if marked {
		return
	}
	l.dropped++ // the mark stands in the place of the last line that went
	mark := fmt.Sprintf("… %d lines are missing here, which no server took in time …", l.dropped)
	l.bytes += len(mark) - len(l.kept[0])
	l.kept[0] = mark
}

// next are the lines for the next report, and whether they are all that there are.
func (l *lines) next() (from int64, out []string, all bool) {
	bytes := 0
	for i, line := range l.kept {
		bytes += len(line) + 1
		if bytes > sentLines && i > 0 {
			return l.first, slices.Clone(l.kept[:i]), false
		}
	}
	return l.first, slices.Clone(l.kept), true
}

// confirm forgets the lines up to that number: a server has them.
func (l *lines) confirm(number int64) {
	n := min(max(number-l.first+1, 0), int64(len(l.kept)))
	if n == 0 {
		return
	}
	for _, line := range l.kept[:n] {
		l.bytes -= len(line) + 1
	}
	l.kept = slices.Clone(l.kept[n:])
	l.first += n
	l.dropped = 0
}
