package cronexpr

import "math/bits"

const (
	allSixty uint64 = 1<<60 - 1
	allHours uint32 = 1<<24 - 1
)

// bitset holds the values of any one field; a year is stored less MinYear.
type bitset [4]uint64

func (b *bitset) add(v int)      { b[v>>6] |= 1 << (v & 63) }
func (b *bitset) has(v int) bool { return b[v>>6]&(1<<(v&63)) != 0 }

// next is the smallest member ≥ v, or -1.
func (b *bitset) next(v int) int {
	for word := v >> 6; word < len(b); word++ {
		set := b[word]
		if word == v>>6 {
			set &= ^uint64(0) << (v & 63)
		}
		if set != 0 {
			return word<<6 + bits.TrailingZeros64(set)
		}
	}
	return -1
}

// firstBit is the smallest member of a set that is not empty.
func firstBit(set uint64) int { return bits.TrailingZeros64(set) }

// nextBit is the smallest member ≥ v, or 64.
func nextBit(set uint64, v int) int { return bits.TrailingZeros64(set & (^uint64(0) << v)) }
