package statistics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrCorrupt says that stored bytes are none that this package writes.
var ErrCorrupt = errors.New("statistics cannot be read")

const (
	// maxName bounds the name of a node, in bytes; nodes allow themselves less.
	maxName = 255
	// maxTime bounds moments and their differences, in milliseconds: 8,900 years.
	maxTime = 1 << 48
)

// Decode reads the ends of a digest, in the order of Encode. An error is ErrCorrupt,
// and says where. It allocates no more than a small multiple of what data holds.
func Decode(data []byte) ([]End, error) {
	r := &reader{data: data}
	if v := r.byte(); v != digestVersion && r.err == nil {
		return nil, fmt.Errorf("%w: a digest of version %d; this release reads %d", ErrCorrupt, v, digestVersion)
	}
	count := int(r.byte())
	now := int64(r.uint64())
	switch {
	case r.err != nil:
		return nil, r.err
	case count == 0 || count > MaxEnds || count*minSize > len(data):
		return nil, fmt.Errorf("%w: a digest of %d bytes with %d ends", ErrCorrupt, len(data), count)
	case now < -maxTime || now > maxTime:
		return nil, fmt.Errorf("%w: a digest of the time %d", ErrCorrupt, now)
	}
	ends, nodes := make([]End, count), make([]int, count)
	for i := range ends {
		nodes[i] = r.end(&ends[i], now)
		if r.err != nil {
			return nil, fmt.Errorf("end %d of %d: %w", i+1, count, r.err)
		}
	}
	names := r.names(count)
	if r.err == nil && len(r.data) > r.at {
		r.fail("%d bytes follow", len(r.data)-r.at)
	}
	for i, node := range nodes {
		switch {
		case r.err != nil:
			return nil, r.err
		case node > len(names):
			return nil, fmt.Errorf("end %d of %d: %w: node %d of %d", i+1, count, ErrCorrupt, node, len(names))
		case node > 0:
			ends[i].Node = names[node-1]
		}
	}
	return ends, nil
}

// reader reads parts of bytes until one is wrong; from then on it answers zero.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) fail(format string, values ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: byte %d: %s", ErrCorrupt, r.at, fmt.Sprintf(format, values...))
	}
}

// bytes are the next n; nothing once one is wrong.
func (r *reader) bytes(n int) []byte {
	if r.err == nil && n > len(r.data)-r.at {
		r.fail("it ends too early")
	}
	if r.err != nil {
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// number reads a number of at least low and at most high.
func (r *reader) number(what string, low, high uint64) uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 || v < low || v > high {
		r.fail("%s is not a number from %d to %d", what, low, high)
		return 0
	}
	r.at += n
	return v
}

func (r *reader) span(what string) time.Duration {
	return time.Duration(r.number(what, 0, maxMillis)) * time.Millisecond
}

// end reads one end, and answers the position of its node's name, from 1.
func (r *reader) end(e *End, now int64) (node int) {
	flags, kind := r.byte(), r.byte()
	if flags&^flagsKnown != 0 {
		r.fail("unknown flags %#x", flags)
	}
	e.Status, e.Trigger = nameOf(statuses[:], kind>>4), nameOf(triggers[:], kind&0x0f)
	if e.Status == "" {
		r.fail("unknown status %d", kind>>4)
	}
	copy(e.Job[:], r.bytes(len(e.Job)))
	node = int(r.number("node", 0, MaxEnds))
	e.Version = int(r.number("version", 0, math.MaxInt32))
	e.At = time.UnixMilli(now + r.drift()).UTC()
	if e.Started = flags&flagStarted != 0; e.Started {
		e.Duration = r.span("duration")
	}
	if e.Timed = flags&flagTimed != 0; e.Timed {
		e.Lateness = r.span("lateness")
	}
	if flags&flagReason != 0 {
		e.Reason = nameOf(reasons[:], r.byte())
	}
	if flags&flagRetries != 0 {
		e.Retries = int(r.number("retries", 1, math.MaxInt32))
	}
	e.Fires = 1
	if flags&flagRange != 0 {
		e.Fires = int(r.number("fires", 2, math.MaxInt32))
	}
	if flags&flagShard != 0 {
		e.Fire = r.uint64()
		e.Shard = int(r.number("shard", 0, MaxShards-1))
		e.Shards = int(r.number("shards", uint64(e.Shard)+1, MaxShards))
		if e.Shards < 2 {
			r.fail("a fire of %d shard", e.Shards)
		}
	}
	if flags&flagMore != 0 {
		more := r.byte()
		if more == 0 || more&^moreKnown != 0 {
			r.fail("unknown bits %#x", more)
		}
		e.Item, e.Waited = more&moreItem != 0, more&moreWaited != 0
	}
	return node
}

func (r *reader) drift() int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.data[r.at:])
	if n <= 0 || v < -maxTime || v > maxTime {
		r.fail("an end lies too far from the moment of its digest")
		return 0
	}
	r.at += n
	return v
}

// names reads the names of nodes; there are no more than ends.
func (r *reader) names(ends int) []string {
	count := int(r.number("names", 0, uint64(ends)))
	names := make([]string, 0, count)
	for range count {
		names = append(names, string(r.bytes(int(r.number("name", 1, maxName)))))
	}
	return names
}
