package metrics

import (
	"runtime"
	runtimemetrics "runtime/metrics"
	"sync"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Load measures what the process carries, from one reading to the next. Safe
// for concurrent use.
type Load struct {
	clock clock.Clock

	mu   sync.Mutex
	at   time.Duration
	used time.Duration
	last float64
}

// NewLoad begins to measure.
func NewLoad(c clock.Clock) *Load { return &Load{clock: c, at: c.Monotonic(), used: processorTime()} }

// minLoadSpan is how far apart two readings must be to say anything.
const minLoadSpan = 100 * time.Millisecond

// Load is the share of the machine's processors that the process used since
// the last reading, 0–1, and the memory it has from the system, in bytes.
func (l *Load) Load() (cpu float64, memory int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.clock.Monotonic(); now-l.at >= minLoadSpan {
		used := processorTime()
		l.last = min(max(float64(used-l.used)/float64(now-l.at)/float64(runtime.NumCPU()), 0), 1)
		l.at, l.used = now, used
	}
	sample := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(sample)
	return l.last, int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}

// processorTime is what the process has used so far, in user and in system mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
