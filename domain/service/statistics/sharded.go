package statistics

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ShardedFire collects the ends of the shards of one fire, which counts as one run
// once all have ended. It is the same in any order of the shards. The zero value has
// seen none. Its stored rows must stay until the batch that completed it is
// closed: a batch that is repeated has to count the run again.
type ShardedFire struct {
	// FoldSeq is the number of the last batch of which it has taken shards.
	FoldSeq int64
	// run is what the fire counts as, by the shards so far.
	run End
	// ended has a bit for each shard that has ended.
	ended []byte
}

// Apply takes ends of shards of the fire that batch seq holds, once: it changes nothing
// and answers false when the fire has taken that batch, or a later one, already, or is
// complete. A shard counts once, too. A row that is no shard of this fire is left out.
func (f *ShardedFire) Apply(seq int64, shards []End) bool {
	if f.FoldSeq >= seq || f.Complete() {
		return false
	}
	for i := range shards {
		f.add(&shards[i])
	}
	f.FoldSeq = seq
	return true
}

func (f *ShardedFire) add(e *End) {
	if e.Shards == 0 || f.run.Shards > 0 && (e.Fire != f.run.Fire || e.Job != f.run.Job) {
		return
	}
	for len(f.ended)*8 < e.Shards {
		f.ended = append(f.ended, 0)
	}
	bit := byte(1) << (e.Shard % 8)
	if f.ended[e.Shard/8]&bit != 0 {
		return
	}
	f.ended[e.Shard/8] |= bit

	run := &f.run
	run.Job, run.Fire, run.Trigger, run.Fires = e.Job, e.Fire, e.Trigger, 1
	run.Shards = max(run.Shards, e.Shards)
	run.Version = max(run.Version, e.Version)
	run.Retries = int(min(int64(run.Retries)+int64(e.Retries), math.MaxInt32))
	run.Duration, run.Lateness = max(run.Duration, e.Duration), max(run.Lateness, e.Lateness)
	run.Started, run.Timed = run.Started || e.Started, run.Timed || e.Timed
	if run.At.Before(e.At) {
		run.At = e.At
	}
	switch worst := worse(run.Status, e.Status); {
	case worst != run.Status:
		run.Status, run.Reason = worst, e.Reason
	case e.Status == worst && (run.Reason == "" || e.Reason != "" && e.Reason < run.Reason):
		run.Reason = e.Reason
	}
}

// Complete tells whether all shards have ended.
func (f *ShardedFire) Complete() bool {
	n := 0
	for _, b := range f.ended {
		n += bits.OnesCount8(b)
	}
	return n > 0 && n >= f.run.Shards
}

// CompletedBy tells whether batch seq brought the last shard, so that Run counts in it.
// The answer is the same when the batch is repeated.
func (f *ShardedFire) CompletedBy(seq int64) bool { return f.FoldSeq == seq && f.Complete() }

// Run is the one end that the fire counts as: the worst state, the slowest shard, the
// latest start, all retries, the last end. It has no node and is no shard. Before the
// fire is complete it tells of the shards so far.
func (f *ShardedFire) Run() End {
	run := f.run
	run.Fire, run.Shards = 0, 0
	return run
}

// worse is the worse of two states, as the ledger folds them; empty is none.
func worse(a, b entity.Status) entity.Status {
	if a == "" {
		return b
	}
	return entity.Fold([]entity.Status{a, b})
}

// shardedVersion begins the stored form of a sharded fire.
const shardedVersion = 1

// Append adds the stored form to dst, without FoldSeq, which is a column of its own:
// a digest of one end, and the bits of the shards.
func (f *ShardedFire) Append(dst []byte) []byte {
	w := newWriter(f.run.At, 1)
	w.add(&f.run)
	digest := w.digest()
	dst = append(dst, shardedVersion)
	dst = binary.AppendUvarint(dst, uint64(len(digest.Data)))
	dst = append(dst, digest.Data...)
	return append(dst, f.ended...)
}

// DecodeShardedFire reads what Append wrote. An error is ErrCorrupt.
func DecodeShardedFire(data []byte) (*ShardedFire, error) {
	r := &reader{data: data}
	if v := r.byte(); v != shardedVersion && r.err == nil {
		r.fail("version %d", v)
	}
	digest := r.bytes(int(r.number("length", 0, math.MaxInt32)))
	if r.err != nil {
		return nil, fmt.Errorf("a sharded fire: %w", r.err)
	}
	ends, err := Decode(digest)
	if err != nil {
		return nil, fmt.Errorf("a sharded fire: %w", err)
	}
	f := &ShardedFire{run: ends[0], ended: slices.Clone(r.bytes(len(data) - r.at))}
	bits := len(f.ended) * 8
	if shards := f.run.Shards; len(ends) != 1 || shards == 0 || bits != (shards+7)/8*8 ||
		f.ended[len(f.ended)-1]>>(8-(bits-shards)) != 0 {
		return nil, fmt.Errorf("%w: a fire of %d ends and %d shards, with %d bits", ErrCorrupt, len(ends), shards, bits)
	}
	return f, nil
}
