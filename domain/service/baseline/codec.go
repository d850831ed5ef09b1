package baseline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrCorrupt says that stored bytes are none that this release writes. A baseline
// can be learned anew.
var ErrCorrupt = errors.New("a baseline cannot be read")

// MaxSize bounds the stored form of a state, in bytes.
const MaxSize = 256

// stateVersion begins each stored state. Another form needs another one, and a release
// that reads both before one that writes it.
const stateVersion = 1

// Append adds the stored form to dst: at most MaxSize bytes, some 90 before the job has
// run MinRuns times.
func (s *State) Append(dst []byte) []byte {
	dst = append(dst, stateVersion)
	for _, n := range [...]uint32{s.runs, s.version, s.since, s.last} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	f := &s.failures
	dst = binary.BigEndian.AppendUint32(dst, f.last)
	dst = appendFloats(append(dst, f.seen), f.rate, f.weight)
	if s.runs < MinRuns {
		return appendFloats(dst, s.first...)
	}
	dst = appendFloats(dst, s.weight, s.level, s.spread)
	dst = s.season.append(dst)
	return s.shorter.append(s.longer.append(dst))
}

// append writes the bands that have runs behind a set of bits that says which.
func (s *season) append(dst []byte) []byte {
	dst = appendFloats(append(dst, byte(s.kind), s.learned), s.off[:]...)
	used := uint32(0)
	for i, b := range s.bands {
		if b.runs > 0 {
			used |= 1 << i
		}
	}
	dst = binary.BigEndian.AppendUint32(dst, used)
	for _, b := range s.bands {
		if b.runs > 0 {
			dst = append(binary.BigEndian.AppendUint16(dst, uint16(b.offset)), b.runs)
		}
	}
	return dst
}

func (o *outliers) append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for _, outlier := range o {
		if outlier.weight > 0 {
			dst[at]++
			dst = appendFloats(binary.BigEndian.AppendUint16(dst, uint16(outlier.level)), outlier.weight)
		}
	}
	return dst
}

func appendFloats(dst []byte, values ...float32) []byte {
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// Decode reads what Append wrote. An error is ErrCorrupt.
func Decode(data []byte) (*State, error) {
	r := &reader{data: data}
	s := &State{}
	if r.byte() != stateVersion {
		r.bad = true
	}
	s.runs, s.version, s.since, s.last = r.number(), r.number(), r.number(), r.number()
	f := &s.failures
	f.last, f.seen, f.rate, f.weight = r.uint32(), r.byte(), r.float(0, 1), r.float(0, fullWeight)
	r.bad = r.bad || f.seen > window || s.last < s.since
	if s.runs < MinRuns {
		for range s.runs {
			s.first = append(s.first, r.float(0, maxLog))
		}
	} else {
		s.weight, s.level, s.spread = r.float(1, fullWeight), r.float(-farthest, 2*maxLog), r.float(minSpread, maxSpread)
		r.season(&s.season)
		r.outliers(&s.longer)
		r.outliers(&s.shorter)
	}
	if r.bad || len(r.data) > 0 {
		return nil, fmt.Errorf("%w: %d bytes of %d are left", ErrCorrupt, len(r.data), len(data))
	}
	return s, nil
}

// reader reads parts of bytes until one is wrong; from then on it answers zero.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad = r.bad || n > len(r.data); r.bad {
		return make([]byte, n)
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) byte() byte     { return r.bytes(1)[0] }
func (r *reader) uint16() uint16 { return binary.BigEndian.Uint16(r.bytes(2)) }
func (r *reader) uint32() uint32 { return binary.BigEndian.Uint32(r.bytes(4)) }

func (r *reader) number() uint32 {
	v, n := binary.Uvarint(r.data)
	if r.bad = r.bad || n <= 0 || v > math.MaxUint32; r.bad {
		return 0
	}
	r.data = r.data[n:]
	return uint32(v)
}

// float reads a number from low to high, with the room that rounding needs.
func (r *reader) float(low, high float64) float32 {
	const rounded = 1e-6
	v := math.Float32frombits(r.uint32())
	if !(float64(v) >= low*(1-rounded) && float64(v) <= high*(1+rounded)) {
		r.bad = true
	}
	return v
}

func (r *reader) season(s *season) {
	s.kind, s.learned = seasonKind(r.byte()), r.byte()
	for i := range s.off {
		s.off[i] = r.float(0, farthest)
	}
	used := r.uint32()
	r.bad = r.bad || s.kind >= seasonKinds || used>>len(s.bands) != 0
	for i := range s.bands {
		if used>>i&1 != 0 {
			s.bands[i] = band{int16(r.uint16()), r.byte()}
			r.bad = r.bad || s.bands[i].runs == 0
		}
	}
}

func (r *reader) outliers(o *outliers) {
	count := int(r.byte())
	if r.bad = r.bad || count > len(o); r.bad {
		return
	}
	for i := range count {
		o[i] = outlier{int16(r.uint16()), r.float(leastOutlier, mostOutliers)}
	}
}
