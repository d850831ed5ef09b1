package statistics

import (
	"encoding/binary"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxEnds is how many ends a digest holds at most: more make the row long, and one
// that cannot be read loses more.
const MaxEnds = 200

// digestVersion begins each digest. Another form needs another one, and a release
// that reads both before one that writes it.
const digestVersion = 1

const (
	// headSize is the version, the number of ends and the moment.
	headSize = 1 + 1 + 8
	// plainSize is what a plain end takes at most: no shard, range or reason, a
	// version below 16,384, less than 3 days, less than 35 minutes late, and stored
	// within a minute of its end.
	plainSize = 32
	// minSize is what an end takes at least: flags, status and trigger, job, and one
	// byte each for node, version and end.
	minSize = 1 + 1 + 16 + 3
)

// Flags of an end say which of its parts follow.
const (
	flagStarted = 1 << iota
	flagTimed
	flagReason
	flagRetries
	flagRange
	flagShard
	flagMore
	flagsKnown = 1<<iota - 1
)

// More bits of an end, in a byte of their own behind its other parts. Only ends of workflows have some.
const (
	moreItem = 1 << iota
	moreWaited
	moreKnown = 1<<iota - 1
)

// Digest is one row of ends that a transaction inserts.
type Digest struct {
	// Ends is how many there are: 1 to MaxEnds.
	Ends int
	Data []byte
}

// Encode packs the executions that a transaction has ended, at now by the store's
// clock, into digests. leftOut counts those that are not final or whose job has no
// UUID: there are none, unless the caller errs. It keeps nothing and changes nothing.
func Encode(ended []*entity.Execution, now time.Time) (digests []Digest, leftOut int) {
	if len(ended) == 0 {
		return nil, 0
	}
	digests = make([]Digest, 0, (len(ended)+MaxEnds-1)/MaxEnds)
	var w writer
	for k := range ended {
		end, ok := endOf(ended, k, now)
		if !ok {
			leftOut++
			continue
		}
		if w.ends == 0 {
			w = newWriter(now, min(len(ended)-k, MaxEnds))
		}
		w.add(&end)
		if w.ends == MaxEnds {
			digests = append(digests, w.digest())
			w = writer{}
		}
	}
	if w.ends > 0 {
		digests = append(digests, w.digest())
	}
	return digests, leftOut
}

// EncodeEnds packs ends, MaxEnds at most, into one digest of a moment.
func EncodeEnds(ends []End, now time.Time) Digest {
	w := newWriter(now, len(ends))
	for i := range ends {
		w.add(&ends[i])
	}
	return w.digest()
}

// writer makes one digest: its head, the ends, and the names of their nodes.
type writer struct {
	data []byte
	ends int
	now  int64
	// nodes are the names so far; few of them are many. node is the position of the
	// last one used, from 1.
	nodes []string
	node  int
	room  [4]string
}

func newWriter(now time.Time, ends int) writer {
	w := writer{now: moment(now), data: make([]byte, headSize, headSize+ends*plainSize+64)}
	w.data[0] = digestVersion
	binary.BigEndian.PutUint64(w.data[2:], uint64(w.now))
	return w
}

func (w *writer) digest() Digest {
	w.data[1] = byte(w.ends)
	w.data = binary.AppendUvarint(w.data, uint64(len(w.nodes)))
	for _, name := range w.nodes {
		w.data = binary.AppendUvarint(w.data, uint64(len(name)))
		w.data = append(w.data, name...)
	}
	return Digest{Ends: w.ends, Data: w.data}
}

func (w *writer) add(e *End) {
	flags := byte(0)
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	reason := codeOf(reasons[:], e.Reason)
	set(flagStarted, e.Started)
	set(flagTimed, e.Timed)
	set(flagReason, reason != 0)
	set(flagRetries, e.Retries > 0)
	set(flagRange, e.Fires > 1)
	set(flagShard, e.Shards > 0)
	more := byte(0)
	if e.Item {
		more |= moreItem
	}
	if e.Waited {
		more |= moreWaited
	}
	set(flagMore, more != 0)

	b := append(w.data, flags, codeOf(statuses[:], e.Status)<<4|codeOf(triggers[:], e.Trigger))
	b = append(b, e.Job[:]...)
	b = binary.AppendUvarint(b, uint64(w.nodeOf(e.Node)))
	b = binary.AppendUvarint(b, uint64(e.Version))
	b = binary.AppendVarint(b, moment(e.At)-w.now)
	if e.Started {
		b = binary.AppendUvarint(b, uint64(millis(e.Duration)))
	}
	if e.Timed {
		b = binary.AppendUvarint(b, uint64(millis(e.Lateness)))
	}
	if reason != 0 {
		b = append(b, reason)
	}
	if e.Retries > 0 {
		b = binary.AppendUvarint(b, uint64(e.Retries))
	}
	if e.Fires > 1 {
		b = binary.AppendUvarint(b, uint64(e.Fires))
	}
	if e.Shards > 0 {
		b = binary.BigEndian.AppendUint64(b, e.Fire)
		b = binary.AppendUvarint(b, uint64(e.Shard))
		b = binary.AppendUvarint(b, uint64(e.Shards))
	}
	if more != 0 {
		b = append(b, more)
	}
	w.data = b
	w.ends++
}

// moment is a time in milliseconds, within half of what a difference may be.
func moment(t time.Time) int64 { return min(max(t.UnixMilli(), -maxTime/2), maxTime/2) }

// nodeOf is the position of a node's name, from 1; 0 is no node.
func (w *writer) nodeOf(name string) int {
	if name == "" {
		return 0
	}
	if w.node > 0 && w.nodes[w.node-1] == name {
		return w.node
	}
	for i, known := range w.nodes {
		if known == name {
			w.node = i + 1
			return w.node
		}
	}
	if w.nodes == nil {
		w.nodes = w.room[:0]
	}
	w.nodes = append(w.nodes, name)
	w.node = len(w.nodes)
	return w.node
}
