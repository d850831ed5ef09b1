package bench

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/storeclock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// observer is the executor of a bench: every run is seen here, outside the
// engine's tables, at the moment the handler is entered. Safe for concurrent
// use.
type observer struct {
	clock *storeclock.Clock
	// gossip is shared by the runs that talk, where there are any.
	bench  *bench
	gossip *gossip
	// newsroom is shared by the runs whose logs are followed.
	newsroom *newsroom
	// completed counts ends that the store has taken.
	completed atomic.Int64

	mu sync.Mutex
	// fires counts entries by job and nominal time. It and entries hold no
	// pointers: what the observer keeps must not burden the collector of the
	// program that it watches.
	fires   map[uint64]uint32
	hash    maphash.Seed
	entries []entry
}

// entry is one handler entry, in µs since the epoch.
type entry struct {
	due, at int64
}

// key names a planned fire from outside the engine. Among a million fires two
// share a key with a probability of one in 30 million; one of them would then
// count as doubled.
func (o *observer) key(job string, at time.Time) uint64 {
	var h maphash.Hash
	h.SetSeed(o.hash)
	_, _ = h.WriteString(job)
	var ms [8]byte
	binary.LittleEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	_, _ = h.Write(ms[:])
	return h.Sum64()
}

func newObserver(expected int) *observer {
	return &observer{fires: make(map[uint64]uint32, expected), hash: maphash.MakeSeed(), entries: make([]entry, 0, expected)}
}

// Run implements app.Executor: note the entry, and do nothing but talk.
func (o *observer) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	switch run.Job.Class {
	case talkClass:
		return o.gossip.run(ctx, o.bench, rep)
	case tailClass:
		return o.newsroom.run(ctx, run, rep)
	case callClass:
		for n := range 20 {
			rep.Log(entity.LogStdout, "row "+strconv.Itoa(n)+" of table orders was copied")
		}
		return entity.Succeeded("")
	}
	at := o.clock.Now()
	key := o.key(run.Execution.JobID, run.Execution.ScheduledTime)
	o.mu.Lock()
	o.fires[key]++
	o.entries = append(o.entries, entry{run.Execution.DueTime.UnixMicro(), at.UnixMicro()})
	o.mu.Unlock()
	return entity.Succeeded("")
}

// Check implements app.Executor.
func (o *observer) Check(*entity.Job) []fault.Field { return nil }

// stored implements running.Observer.
func (o *observer) stored(*entity.Job, *entity.Execution) { o.completed.Add(1) }

// saw reports whether the fire of a job was entered.
func (o *observer) saw(job string, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fires[o.key(job, at)] > 0
}

// doubled counts fires that were entered more than once.
func (o *observer) doubled() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, times := range o.fires {
		if times > 1 {
			n++
		}
	}
	return n
}

// distinct counts fires that were entered.
func (o *observer) distinct() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.fires)
}

// forgetBefore drops the entries of fires due before the moment: the warm-up.
func (o *observer) forgetBefore(t time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = slices.DeleteFunc(o.entries, func(e entry) bool { return e.due < t.UnixMicro() })
}

// lateness sums the entries up.
func (o *observer) lateness() *Lateness {
	o.mu.Lock()
	defer o.mu.Unlock()
	ms := make([]float64, len(o.entries))
	for i, e := range o.entries {
		ms[i] = float64(e.at-e.due) / 1000
	}
	return summarize(ms)
}

func summarize(ms []float64) *Lateness {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	return &Lateness{P50: percentile(ms, 50), P99: percentile(ms, 99), Max: ms[len(ms)-1]}
}

// percentile is the nearest-rank percentile of sorted values.
func percentile(sorted []float64, p int) float64 {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

// lastAfter is the latest entry, in ms after t.
func (o *observer) lastAfter(t time.Time) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := t.UnixMicro()
	for _, e := range o.entries {
		last = max(last, e.at)
	}
	return float64(last-t.UnixMicro()) / 1000
}
