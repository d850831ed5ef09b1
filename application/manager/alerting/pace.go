package alerting

import (
	"sync/atomic"
	"time"
)

const (
	// sliceTime is what the patterns of one slice of dear events take: so long a group with dear rules holds up the
	// others. Shorter slices are more transactions.
	sliceTime = 50 * time.Millisecond
	// million is how many steps pace measures by, and millionTime what they take on a machine that is free.
	million     = 1_000_000
	millionTime = 10 * time.Millisecond
)

// pace measures what a step takes here and now: a busy machine gives the leader a part of a processor. The zero value
// is that of a free machine. Safe for concurrent use.
type pace struct {
	// beyond is how much longer a million steps take than millionTime, as the latest slices did.
	beyond atomic.Int64
}

// note is told how long steps have taken. Few steps say nothing.
func (p *pace) note(steps int64, took time.Duration) {
	if steps < million/10 {
		return
	}
	beyond := max(int64(took)*million/steps-int64(millionTime), 0)
	p.beyond.Store((3*p.beyond.Load() + beyond) / 4)
}

// steps is how many of them take sliceTime.
func (p *pace) steps() int {
	return int(sliceTime * million / (millionTime + time.Duration(p.beyond.Load())))
}
