package statistics

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Append adds the stored form of the histogram to dst: how often neighbours were
// merged, the number of cells, and for each the distance to the one before and its
// count. An ordinary cell takes 2 or 3 bytes, all together at most 602.
func (h *Histogram) Append(dst []byte) []byte {
	dst = append(dst, h.coarse, byte(len(h.cells)))
	before := uint16(0)
	for _, c := range h.cells {
		dst = binary.AppendUvarint(dst, uint64(c.at-before))
		dst = binary.AppendUvarint(dst, uint64(c.count))
		before = c.at
	}
	return dst
}

// DecodeHistograms reads histograms that Append wrote one behind the other, and
// nothing else. Each one of into is replaced. No bytes at all are empty histograms. An
// error is ErrCorrupt, and leaves into as it was.
func DecodeHistograms(data []byte, into ...*Histogram) error {
	read := make([]Histogram, len(into))
	if len(data) > 0 {
		r := &reader{data: data}
		for i := range read {
			r.histogram(&read[i])
		}
		if r.err == nil && r.at < len(data) {
			r.fail("%d bytes follow", len(data)-r.at)
		}
		if r.err != nil {
			return fmt.Errorf("a histogram: %w", r.err)
		}
	}
	for i := range read {
		*into[i] = read[i]
	}
	return nil
}

func (r *reader) histogram(h *Histogram) {
	coarse, cells := r.byte(), int(r.byte())
	if coarse > coarsest || cells > maxCells {
		r.fail("%d cells, merged %d times", cells, coarse)
	}
	if r.err != nil || cells == 0 {
		h.coarse = coarse
		return
	}
	h.coarse, h.cells = coarse, make([]cell, 0, cells)
	at := uint64(0)
	for i := range cells {
		at += r.number("distance of a cell", min(uint64(i), 1), topCell)
		if at > topCell>>coarse {
			r.fail("cell %d is too far", at)
		}
		count := int64(r.number("count of a cell", 1, math.MaxInt64))
		if r.err != nil {
			return
		}
		h.cells = append(h.cells, cell{uint16(at), count})
		h.count = sum(h.count, count)
	}
}
