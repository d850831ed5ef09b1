package trial

import (
	"strings"
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
}

// Log implements entity.Reporter.
func (r *transcript) Log(t entity.LogType, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for part := range strings.SplitSeq(text, "\n") {
		if r.ended || r.truncated {
			return
		}
		line := validation.LogLine(part, entity.MaxLogLine)
		if r.truncated = r.bytes+len(line)+lineCost > maxLog; !r.truncated {
			r.bytes += len(line) + lineCost
			r.lines = append(r.lines, Line{Time: r.now(), Stream: t, Text: line})
		}
	}
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
