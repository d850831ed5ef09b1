package trial

import (
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// maxLog bounds the log that is answered, in bytes; each line counts lineCost more.
	maxLog   = 256 << 10
	lineCost = 64
)

// Line is one line of a trial's log.
type Line struct {
	Time   time.Time
	Stream entity.LogType
	Text   string
}

// transcript keeps what a trial says, within maxLog. It implements entity.Reporter.
type transcript struct {
	now func() time.Time

	mu        sync.Mutex
	lines     []Line
	bytes     int
	truncated bool
	ended     bool
	// returned are the places of lines that the next one of their stream replaces.
	returned map[entity.LogType]int
}

// Log implements entity.Reporter.
func (r *transcript) Log(t entity.LogType, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line, returned := range validation.Lines(text) {
		if r.ended || r.truncated {
			return
		}
		r.take(t, validation.LogLine(line, entity.MaxLogLine), returned)
	}
}

// take adds a line; the caller holds the lock.
func (r *transcript) take(t entity.LogType, line string, returned bool) {
	if returned && line == "" {
		return // only the cursor moves
	}
	if at, ok := r.returned[t]; ok {
		delete(r.returned, t)
		if line == "" {
			return // it ends the line that is there
		}
		r.bytes -= len(r.lines[at].Text) + lineCost
		r.lines = slices.Delete(r.lines, at, at+1)
		for stream, place := range r.returned {
			if place > at {
				r.returned[stream]--
			}
		}
	}
	if r.truncated = r.bytes+len(line)+lineCost > maxLog; r.truncated {
		return
	}
	if returned {
		r.returned[t] = len(r.lines)
	}
	r.bytes += len(line) + lineCost
	r.lines = append(r.lines, Line{Time: r.now(), Stream: t, Text: line})
}

// Progress implements entity.Reporter; nobody follows a trial.
func (r *transcript) Progress(int) {}

// Checkpoint implements entity.Reporter; a trial has no further attempt.
func (r *transcript) Checkpoint(string) {}

// Waits implements entity.Reporter: the time of a trial counts from its start.
func (r *transcript) Waits() (begins func()) { return func() {} }

// end returns what was said; what comes later is dropped.
func (r *transcript) end() (lines []Line, truncated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.lines, r.truncated
}
