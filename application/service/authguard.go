package service

import (
	"math"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Back-off of sign-in. It lives in memory: it must work when nothing else
// does, and a cluster multiplies the tries only by its number of nodes.
const (
	// freeTries per account or address are not slowed down; addresses get more
	// of them, because many people share one.
	freeUserTries = 5
	freeAddrTries = 20
	// maxWait is short, so that nobody is locked out for long by a stranger
	// who guesses at the account.
	maxWait = time.Minute
	// forgetAfter is how long an account must be quiet to start afresh.
	forgetAfter = 15 * time.Minute
	guardLimit  = 10_000
)

// tries are the failures of one account or address.
type tries struct {
	count   int
	blocked time.Duration // monotonic moment before which nothing is checked
	last    time.Duration // monotonic moment of the latest try
}

// loginGuard slows down guessing, per account and per address. It is bounded
// and safe for concurrent use.
type loginGuard struct {
	mu     sync.Mutex
	byName map[string]*tries
}

func newLoginGuard() *loginGuard { return &loginGuard{byName: map[string]*tries{}} }

// begin counts a try before it is made, so that parallel guesses do not slip
// through, or refuses it. The returned function takes the outcome: success
// clears the first key (the account), and what was no wrong guess is uncounted.
func (g *loginGuard) begin(now time.Duration, keys ...string) (done func(error), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range keys {
		if t := g.byName[k]; t != nil && now < t.blocked {
			wait := int(math.Ceil((t.blocked - now).Seconds()))
			f := fault.New(fault.KindTooMany, "too_many_logins", "too many failed sign-ins; wait and try again")
			f.RetryAfterSec = max(wait, 1)
			return nil, f
		}
	}
	for i, k := range keys {
		g.count(k, now, freeTries(i))
	}
	return func(err error) { g.end(keys, err) }, nil
}

// freeTries of the i-th key: the account comes first, then the address.
func freeTries(i int) int {
	if i > 0 {
		return freeAddrTries
	}
	return freeUserTries
}

func (g *loginGuard) count(key string, now time.Duration, free int) {
	t := g.byName[key]
	if t == nil || now-t.last > forgetAfter {
		g.makeRoom(now)
		t = &tries{}
		g.byName[key] = t
	}
	t.count++
	t.last = now
	if over := t.count - free; over >= 0 {
		// 1 s, 2 s, 4 s, … after the last free try.
		t.blocked = now + min(time.Second<<min(over, 10), maxWait)
	}
}

func (g *loginGuard) end(keys []string, err error) {
	wrong := fault.Is(err, fault.KindUnauthenticated)
	if wrong {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, k := range keys {
		t := g.byName[k]
		switch {
		case t == nil:
		case i == 0 && err == nil, t.count <= 1:
			delete(g.byName, k)
		default:
			// Others behind the same address may have guessed wrong: their
			// wait stays.
			if t.count--; t.count < freeTries(i) {
				t.blocked = 0
			}
		}
	}
}

// makeRoom forgets what is old, and if that is not enough the eighth of the
// time span that was quiet longest, so that a full map is not walked for every
// new name.
func (g *loginGuard) makeRoom(now time.Duration) {
	if len(g.byName) < guardLimit {
		return
	}
	oldest := now
	for k, t := range g.byName {
		if now-t.last > forgetAfter {
			delete(g.byName, k)
			continue
		}
		oldest = min(oldest, t.last)
	}
	if len(g.byName) < guardLimit {
		return
	}
	cutoff := oldest + (now-oldest)/8
	spare := guardLimit / 8
	for k, t := range g.byName {
		if t.last <= cutoff && spare > 0 {
			delete(g.byName, k)
			spare--
		}
	}
}
