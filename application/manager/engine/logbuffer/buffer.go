// Package logbuffer keeps what attempts say until the store has it: lines, progress
// and checkpoint (engine rules 19 and 31, see docs/rules.md).
package logbuffer

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Buffer collects what one attempt says, until it is stored in chunks. It
// implements entity.Reporter and is safe for concurrent use.
type Buffer struct {
	exec  *entity.Execution
	clock clock.StoreClock
	limit int

	mu     sync.Mutex
	seq    int64
	bytes  int
	chunks []entity.LogChunk
	// text is the content of the last chunk while lines may be appended to it:
	// it is made a text when it is handed out, not with each line.
	text []byte
	// held is a line that the next one of its type replaces, unless it was handed out before.
	held *line
	// transient counts the bytes of such lines that were handed out, offered is when.
	transient  int
	offered    time.Time
	full       bool
	closed     bool
	progress   int
	checkpoint string
	// dirty: progress or checkpoint changed since they were stored.
	dirty bool
	// hasCheckpoint: the attempt has set a checkpoint.
	hasCheckpoint bool
}

// line is one line of a stream.
type line struct {
	kind entity.LogType
	text string
	// number is the one that a worker gave it; 0 is the next one.
	number int64
	// late means that the limit of such lines keeps it from the store for now.
	late bool
}

// New returns the buffer of an attempt. It keeps at most limit bytes of its log.
func New(e *entity.Execution, limit int, c clock.StoreClock) *Buffer {
	return &Buffer{exec: e, clock: c, limit: limit, checkpoint: e.Checkpoint}
}

// Resume lets the buffer go on behind lines and bytes that the store has already. Call it before Log.
func (b *Buffer) Resume(lines int64, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq, b.bytes = lines, bytes
}

// Stored is the number of the last line that the store has, of those that came before the first that it may not have. A
// log that takes no more lines has all that it will ever have.
func (b *Buffer) Stored() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.full || b.closed:
		return math.MaxInt64
	case len(b.chunks) > 0:
		return b.chunks[0].SeqFrom - entity.LineNumber(b.exec.Attempt, 0) - 1
	case b.held != nil && b.held.number > 0 && !b.held.late:
		return b.held.number - 1
	}
	return b.seq
}

// Log implements entity.Reporter.
func (b *Buffer) Log(t entity.LogType, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.full {
		return
	}
	for text, returned := range validation.Lines(text) {
		b.take(line{kind: t, text: text}, returned)
		if b.full {
			return
		}
	}
}

// LogAt takes one line under the number that a worker gave it, and makes no second one of it. Numbers that were left
// out stay unused: what they stood for was lost on the way. So do those of lines that end in validation.Replaced, where
// the next one comes before they are stored.
func (b *Buffer) LogAt(number int64, t entity.LogType, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.full || number <= b.seq {
		return
	}
	number = min(number, entity.LinesPerAttempt)
	if parts := validation.Shown([]string{text}); len(parts) > 0 {
		one, returned := strings.CutSuffix(strings.Join(parts, " "), validation.Replaced)
		b.take(line{kind: t, text: one, number: number}, returned)
	}
	b.seq = max(b.seq, number)
}

// take adds a line, or holds it where the next one replaces it; the caller holds the lock.
func (b *Buffer) take(l line, returned bool) {
	if returned && l.text == "" {
		return // only the cursor moves
	}
	if b.held != nil && b.held.kind == l.kind {
		if l.text == "" { // it ends the line that is there
			l.text = b.held.text
		}
		b.held = nil
	}
	b.addHeld()
	if returned {
		b.held = &l
		return
	}
	b.goTo(l.number)
	b.add(l.kind, validation.LogLine(l.text, entity.MaxLogLine))
}

// addHeld adds the line that is held, marked as one that the next one replaces.
func (b *Buffer) addHeld() {
	if b.held == nil || b.full {
		return
	}
	l := b.held
	b.held = nil
	text := validation.LogLine(l.text, entity.MaxLogLine-len(validation.Replaced))
	b.goTo(l.number)
	b.add(l.kind, text+validation.Replaced)
}

// goTo lets the next line have a number; 0 leaves that to the buffer.
func (b *Buffer) goTo(number int64) {
	if number > 0 {
		b.seq = number - 1
	}
}

// offer settles a line that is held, for those who follow the log, as often as the limit
// allows: a program that shows its progress for days must not fill its log with that.
func (b *Buffer) offer() {
	if b.held == nil {
		return
	}
	now := b.clock.Now()
	pause := time.Duration(float64(time.Minute) * 16 * float64(b.transient) / float64(b.limit))
	switch {
	case b.closed:
	case b.transient > b.limit/2, !now.Before(b.offered) && now.Sub(b.offered) < pause:
		b.held.late = true
		return
	}
	b.transient += len(b.held.text) + 1
	b.offered = now
	b.addHeld()
}

// add appends one clean line; the caller holds the lock.
func (b *Buffer) add(t entity.LogType, line string) {
	now := b.clock.Now()
	if b.bytes+len(line) > b.limit || b.seq+1 >= entity.LinesPerAttempt {
		b.full = true
		b.append(entity.LogSystem, "… the log was cut here: it reached its limit …", now)
		b.chunks[len(b.chunks)-1].Truncated = true
		return
	}
	b.append(t, line, now)
}

func (b *Buffer) append(t entity.LogType, line string, now time.Time) {
	b.seq++
	b.bytes += len(line) + 1
	number := entity.LineNumber(b.exec.Attempt, b.seq)
	if b.takes(t, line, number) {
		b.text = append(append(b.text, '\n'), line...)
		b.chunks[len(b.chunks)-1].SeqTo = number
		return
	}
	b.fillLast()
	b.text = append(b.text[:0], line...)
	b.chunks = append(b.chunks, entity.LogChunk{
		JobID: b.exec.JobID, ExecutionID: b.exec.ID, Attempt: b.exec.Attempt,
		Type: t, SeqFrom: number, SeqTo: number, CreateTime: now,
	})
}

// takes reports whether a line may be appended to the last chunk. One that was
// given to the store before, without an answer, may be there already under its
// id, and the store would not take more lines under that. The lines of a chunk have
// numbers without a gap.
func (b *Buffer) takes(t entity.LogType, line string, number int64) bool {
	if len(b.chunks) == 0 {
		return false
	}
	last := &b.chunks[len(b.chunks)-1]
	return last.ID == "" && last.Type == t && last.SeqTo+1 == number && len(b.text)+len(line) < entity.LogChunkBytes
}

// fillLast gives the last chunk its content.
func (b *Buffer) fillLast() {
	if n := len(b.chunks); n > 0 && b.chunks[n-1].ID == "" {
		b.chunks[n-1].Content = string(b.text)
	}
}

// Progress implements entity.Reporter.
func (b *Buffer) Progress(percent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress, b.dirty = min(max(percent, 0), 100), true
}

// Checkpoint implements entity.Reporter.
func (b *Buffer) Checkpoint(state string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkpoint, b.dirty, b.hasCheckpoint = validation.Text(state, entity.MaxCheckpoint), true, true
}

// End closes the buffer and lets the outcome carry what was reported.
func (b *Buffer) End(o *entity.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if o.Status != entity.StatusSuccess {
		o.Progress = max(o.Progress, b.progress)
	}
	if o.Checkpoint == "" {
		o.Checkpoint = b.checkpoint
	}
}

// CheckpointSet reports whether the attempt has set a checkpoint.
func (b *Buffer) CheckpointSet() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hasCheckpoint
}

// progressUpdate hands out progress and checkpoint where they changed since the last
// call. A caller that fails to store them says so with markDirty.
func (b *Buffer) progressUpdate() (n repository.ProgressUpdate, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ok, b.dirty = b.dirty, false
	return repository.ProgressUpdate{
		ID: b.exec.ID, NodeID: b.exec.NodeID, Epoch: b.exec.Epoch, Token: b.exec.Token, Progress: b.progress,
		Checkpoint: b.checkpoint,
	}, ok
}

func (b *Buffer) markDirty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dirty = true
}

// pending hands out the chunks that are not known to be stored. They stay until
// stored is called: a run may end while a flush of its lines is still under way,
// and its end takes them along as well, under the same ids.
func (b *Buffer) pending() []entity.LogChunk {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offer()
	b.fillLast()
	for i := range b.chunks {
		if b.chunks[i].ID == "" {
			b.chunks[i].ID = identity.RandomID(b.chunks[i].CreateTime)
		}
	}
	return slices.Clone(b.chunks)
}

// stored drops chunks that pending returned and that the store has taken.
func (b *Buffer) stored(taken []entity.LogChunk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := taken[len(taken)-1].SeqTo
	b.chunks = slices.DeleteFunc(b.chunks, func(c entity.LogChunk) bool { return c.SeqTo <= last })
}

// Discard drops what is not stored, when the store refuses it for good.
func (b *Buffer) Discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chunks, b.held = nil, nil
}

func (b *Buffer) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
