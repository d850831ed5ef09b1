package running

import (
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

// linesPerAttempt spaces the line numbers of attempts: attempt k starts at
// (k−1)·linesPerAttempt+1, so that the numbers grow over attempts on any node
// without a look at the store.
const linesPerAttempt = 1_000_000

// LineNumber is that of the n-th line of an attempt, both counted from 1.
func LineNumber(attempt int, n int64) int64 { return int64(max(attempt-1, 0))*linesPerAttempt + n }

// chunkBytes is the size from which lines begin a new row.
const chunkBytes = 32 << 10

// MaxLine is the longest line kept, in bytes.
const MaxLine = 8 << 10

// logBuffer collects what one attempt says, until it is stored in chunks. It
// implements entity.Reporter and is safe for concurrent use.
type logBuffer struct {
	exec  *entity.Execution
	clock clock.StoreClock
	limit int

	mu     sync.Mutex
	seq    int64
	bytes  int
	chunks []entity.LogChunk
	// text is the content of the last chunk while lines may be appended to it:
	// it is made a text when it is handed out, not with each line.
	text       []byte
	full       bool
	closed     bool
	progress   int
	checkpoint string
	// dirty: progress or checkpoint changed since they were stored.
	dirty bool
	// hasCheckpoint: the attempt has told a checkpoint.
	hasCheckpoint bool
}

func newLogBuffer(e *entity.Execution, limit int, c clock.StoreClock) *logBuffer {
	return &logBuffer{exec: e, clock: c, limit: limit, checkpoint: e.Checkpoint}
}

// Log implements entity.Reporter.
func (j *logBuffer) Log(t entity.LogType, line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.full {
		return
	}
	for part := range strings.SplitSeq(line, "\n") {
		j.add(t, validation.Text(part, MaxLine))
		if j.full {
			return
		}
	}
}

// add appends one clean line; the caller holds the lock.
func (j *logBuffer) add(t entity.LogType, line string) {
	now := j.clock.Now()
	if j.bytes+len(line) > j.limit || j.seq+1 >= linesPerAttempt {
		j.full = true
		j.append(entity.LogSystem, "… the log was cut here: it reached its limit …", now)
		j.chunks[len(j.chunks)-1].Truncated = true
		return
	}
	j.append(t, line, now)
}

func (j *logBuffer) append(t entity.LogType, line string, now time.Time) {
	j.seq++
	j.bytes += len(line) + 1
	number := LineNumber(j.exec.Attempt, j.seq)
	if j.takes(t, line) {
		j.text = append(append(j.text, '\n'), line...)
		j.chunks[len(j.chunks)-1].SeqTo = number
		return
	}
	j.fillLast()
	j.text = append(j.text[:0], line...)
	j.chunks = append(j.chunks, entity.LogChunk{
		JobID: j.exec.JobID, ExecutionID: j.exec.ID, Attempt: j.exec.Attempt,
		Type: t, SeqFrom: number, SeqTo: number, CreateTime: now,
	})
}

// takes reports whether a line may be appended to the last chunk. One that was
// given to the store before, without an answer, may be there already under its
// id, and the store would not take more lines under that.
func (j *logBuffer) takes(t entity.LogType, line string) bool {
	n := len(j.chunks)
	return n > 0 && j.chunks[n-1].ID == "" && j.chunks[n-1].Type == t && len(j.text)+len(line) < chunkBytes
}

// fillLast gives the last chunk its content.
func (j *logBuffer) fillLast() {
	if n := len(j.chunks); n > 0 && j.chunks[n-1].ID == "" {
		j.chunks[n-1].Content = string(j.text)
	}
}

// Progress implements entity.Reporter.
func (j *logBuffer) Progress(percent int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress, j.dirty = min(max(percent, 0), 100), true
}

// Checkpoint implements entity.Reporter.
func (j *logBuffer) Checkpoint(state string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.checkpoint, j.dirty, j.hasCheckpoint = validation.Text(state, MaxCheckpoint), true, true
}

// MaxCheckpoint bounds a checkpoint, in bytes.
const MaxCheckpoint = 64 << 10

// end closes the journal and lets the outcome carry what was reported.
func (j *logBuffer) end(o *entity.Outcome) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if o.Status != entity.StatusSuccess {
		o.Progress = max(o.Progress, j.progress)
	}
	if o.Checkpoint == "" {
		o.Checkpoint = j.checkpoint
	}
}

// checkpointSet reports whether the attempt has told a checkpoint.
func (j *logBuffer) checkpointSet() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.hasCheckpoint
}

// progressUpdate hands out progress and checkpoint where they changed since the last
// call. A caller that fails to store them says so with untold.
func (j *logBuffer) progressUpdate() (n repository.ProgressUpdate, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ok, j.dirty = j.dirty, false
	return repository.ProgressUpdate{
		ID: j.exec.ID, NodeID: j.exec.NodeID, Epoch: j.exec.Epoch, Token: j.exec.Token, Progress: j.progress, Checkpoint: j.checkpoint,
	}, ok
}

func (j *logBuffer) markDirty() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dirty = true
}

// pending hands out the chunks that are not known to be stored. They stay until
// stored is called: a run may end while a flush of its lines is still under way,
// and its end takes them along as well, under the same ids.
func (j *logBuffer) pending() []entity.LogChunk {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fillLast()
	for i := range j.chunks {
		if j.chunks[i].ID == "" {
			j.chunks[i].ID = identity.RandomID(j.chunks[i].CreateTime)
		}
	}
	return slices.Clone(j.chunks)
}

// stored drops chunks that were offered and that the store has taken.
func (j *logBuffer) stored(offered []entity.LogChunk) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := offered[len(offered)-1].SeqTo
	j.chunks = slices.DeleteFunc(j.chunks, func(c entity.LogChunk) bool { return c.SeqTo <= last })
}

// discard drops what is not stored, when the store refuses it for good.
func (j *logBuffer) discard() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.chunks = nil
}

func (j *logBuffer) ended() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}
