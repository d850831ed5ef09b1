package statistics

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

const (
	// stepsPerOctave is how many cells divide a doubling: a cell ends 9 % above its
	// begin, and its middle is within 4.5 % of all in it.
	stepsPerOctave = 8
	// maxCells bounds a histogram; see Histogram.
	maxCells = 60
	// coarsest is a cell an octave: there are at most 41 of them.
	coarsest = 3
	// topCell is that of maxMillis at the finest.
	topCell = 40*stepsPerOctave + stepsPerOctave - 1
)

// Histogram counts spans in cells of equal ratio: 8 steps an octave, from 1 ms on; what
// is shorter has a cell of its own. It holds only the cells that count something, at
// most 60. Where more were needed, neighbours are merged in pairs, all over: 4 steps an
// octave, then 2. So the same spans give the same histogram in any order and grouping,
// and no quantile is ever far off, as it would be if one edge took what is too much.
//
// The zero value is empty. It is not safe for concurrent use, and not to be copied.
type Histogram struct {
	// coarse is how often neighbours were merged.
	coarse uint8
	count  int64
	cells  []cell
}

// cell counts the spans whose position at the finest, shifted by coarse, is at.
type cell struct {
	at    uint16
	count int64
}

// Add counts a span. A negative one is 0, one above 34 years counts as that long.
func (h *Histogram) Add(d time.Duration) { h.add(position(uint64(millis(d)))>>h.coarse, 1) }

// Merge counts what another histogram has counted.
func (h *Histogram) Merge(o *Histogram) {
	for h.coarse < o.coarse {
		h.coarsen()
	}
	for _, c := range o.cells {
		h.add(c.at>>(h.coarse-o.coarse), c.count)
	}
}

// Count is how many spans were counted.
func (h *Histogram) Count() int64 { return h.count }

// Quantile is the span that a share q of all spans do not exceed, in whole milliseconds;
// 0 of an empty histogram. It is off by at most Error. A q outside of [0, 1] is the
// nearer bound.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := int64(math.Ceil(min(max(q, 0), 1) * float64(h.count)))
	rank = min(max(rank, 1), h.count)
	last := h.cells[len(h.cells)-1]
	for _, c := range h.cells {
		if rank <= c.count {
			last = c
			break
		}
		rank -= c.count
	}
	return middle(last.at, h.coarse)
}

// Error is the greatest share by which Quantile is off: 0.045 as a rule, 0.091 and
// 0.19 where neighbours were merged once and twice. Rounding to milliseconds adds up
// to half of one.
func (h *Histogram) Error() float64 {
	return math.Exp2(float64(int(1)<<h.coarse)/(2*stepsPerOctave)) - 1
}

func (h *Histogram) add(at uint16, count int64) {
	h.count = sum(h.count, count)
	i, found := slices.BinarySearchFunc(h.cells, at, func(c cell, at uint16) int { return int(c.at) - int(at) })
	if found {
		h.cells[i].count = sum(h.cells[i].count, count)
		return
	}
	h.cells = slices.Insert(h.cells, i, cell{at, count})
	for len(h.cells) > maxCells {
		h.coarsen()
	}
}

// coarsen merges neighbours in pairs.
func (h *Histogram) coarsen() {
	h.coarse++
	merged := h.cells[:0]
	for _, c := range h.cells {
		c.at >>= 1
		if last := len(merged) - 1; last >= 0 && merged[last].at == c.at {
			merged[last].count = sum(merged[last].count, c.count)
		} else {
			merged = append(merged, c)
		}
	}
	h.cells = merged
}

// steps are 2^(k/8) for k from 1 to 7, with 63 bits behind the point.
var steps = [...]uint64{
	0x8b95c1e3ea8bd6e6, 0x9837f0518db8a96f, 0xa5fed6a9b15138ea, 0xb504f333f9de6484,
	0xc5672a115506dadd, 0xd744fccad69d6af4, 0xeac0c6e7dd24392e,
}

// position is that of the cell of a span at the finest. Below 1 ms it is 0; the octave
// from 1 ms on begins at 8, so that cells of different octaves never merge before all
// of one have.
func position(ms uint64) uint16 {
	if ms == 0 {
		return 0
	}
	octave := bits.Len64(ms)
	fraction := ms << (64 - octave)
	step := 0
	for step < len(steps) && fraction >= steps[step] {
		step++
	}
	return uint16(octave*stepsPerOctave + step)
}

// middle is the geometric middle of a cell, rounded to a millisecond.
func middle(at uint16, coarse uint8) time.Duration {
	if at == 0 {
		return 0
	}
	begin, width := float64(int(at)<<coarse), float64(int(1)<<coarse)
	ms := math.Exp2((begin+width/2)/stepsPerOctave - 1)
	return time.Duration(math.Round(ms)) * time.Millisecond
}

// sum adds counts that are not negative. A sum that exceeds the type stays at its greatest
// value, so that any order gives the same.
func sum(a, b int64) int64 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxInt64
}
