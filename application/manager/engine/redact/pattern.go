package redact

import (
	"math/bits"
	"sort"
	"strings"
)

// patterns find the longest of many texts that begins at a place.
type patterns struct {
	// list is sorted by key, and no key stands in it twice.
	list []pattern
	// heads are the first bytes of all of them.
	heads grams
}

// pattern are the texts that begin with one key.
type pattern struct {
	key string
	// rest is what follows the key in those that are longer.
	rest []string
	// shorter is the longest other pattern that the key begins with, or -1.
	shorter int
}

// newPatterns takes sorted texts of at least shortest bytes.
func newPatterns(texts []string) patterns {
	p := patterns{heads: newGrams(len(texts))}
	for _, text := range texts {
		key := text[:min(len(text), keyBytes)]
		if n := len(p.list); n == 0 || p.list[n-1].key != key {
			p.list = append(p.list, pattern{key: key, shorter: p.before(key)})
			p.heads.add(gram(key, 0))
		}
		if last := &p.list[len(p.list)-1]; len(text) > len(key) {
			last.rest = append(last.rest, text[len(key):])
		}
	}
	return p
}

// before finds, in what is sorted so far, the longest key that key begins with.
func (p patterns) before(key string) int {
	at := len(p.list) - 1
	for at >= 0 && !strings.HasPrefix(key, p.list[at].key) {
		at = p.list[at].shorter
	}
	return at
}

// at is how many bytes of a pattern a text begins with: of a whole one, of the
// key of a longer one and as much more as is equal, or of one that the text
// ends in. It is 0 where there is none.
func (p patterns) at(text string) int {
	key := text[:min(len(text), keyBytes)]
	next := sort.Search(len(p.list), func(i int) bool { return p.list[i].key > key })
	if next < len(p.list) && strings.HasPrefix(p.list[next].key, text) {
		return len(text) // the text ends inside of it
	}
	for at := next - 1; at >= 0; at = p.list[at].shorter {
		found := p.list[at]
		if !strings.HasPrefix(text, found.key) {
			continue
		}
		more := 0
		for _, rest := range found.rest {
			more = max(more, common(text[len(found.key):], rest))
		}
		return len(found.key) + more
	}
	return 0
}

// common is how many bytes two texts have in common at their beginnings.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// grams is a set of short texts by their hash: what it does not have is not in
// it, what it has may be.
type grams struct {
	bits  []uint64
	shift int
}

// newGrams has room for so many: of what is not in it, one in some 200 seems to be.
func newGrams(n int) grams {
	log := max(bits.Len(uint(n))+4, 6)
	return grams{bits: make([]uint64, 1<<(log-6)), shift: 64 - log}
}

func (g grams) add(hash uint64) {
	for range gramBits {
		at := hash >> g.shift
		g.bits[at>>6] |= 1 << (at & 63)
		hash *= spread
	}
}

func (g grams) has(hash uint64) bool {
	for range gramBits {
		at := hash >> g.shift
		if g.bits[at>>6]&(1<<(at&63)) == 0 {
			return false
		}
		hash *= spread
	}
	return true
}

// gramBits is how many bits stand for one text.
const gramBits = 3

// spread is an odd number without a pattern in its bits.
const spread = 0x9e3779b97f4a7c15

// gram is the hash of shortest bytes at i.
func gram(s string, i int) uint64 {
	return (uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 | uint64(s[i+4])<<32 | uint64(
		s[i+5])<<40) * spread
}

// wideGram is the hash of shortestPiece bytes at i.
func wideGram(s string, i int) uint64 {
	return (bits.RotateLeft64(gram(s, i), 29) ^ gram(s, i+shortest)) * spread
}
