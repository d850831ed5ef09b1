// Package sharding is TaskSharding: it cuts a fire into shards, and work into the
// shares of its shards.
package sharding

// Shard is one part of a fire. Index counts from 0 and is below Total.
type Shard struct {
	Index int
	Total int
}

// Shards lists the parts of a fire; a total below 1 means 1.
func Shards(total int) []Shard {
	shards := make([]Shard, max(total, 1))
	for i := range shards {
		shards[i] = Shard{Index: i, Total: len(shards)}
	}
	return shards
}

// Range is the half-open range of item numbers of the shard when count items are spread.
// Every item is in exactly one shard, neighbours stay together, and the sizes differ by at
// most one. A shard outside its total, or a count below 1, gets nothing.
func (s Shard) Range(count int) (from, to int) {
	if s.Index < 0 || s.Index >= s.Total || count <= 0 {
		return 0, 0
	}
	size, rest := count/s.Total, count%s.Total
	from = s.Index*size + min(s.Index, rest)
	to = from + size
	if s.Index < rest {
		to++
	}
	return from, to
}
