package access

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Back-off of sign-in. It lives in memory: it must work when nothing else
// does, and a cluster multiplies the tries only by its number of nodes.
const (
	// The tries that are not slowed down. They count for one account from one address, for
	// an address, which many people may share, and for a network.
	freePairTries = 5
	freeAddrTries = 20
	freeNetTries  = 100
	// freeUserTries on an account, from all addresses together, pass at once. The next
	// tries take turns, one each userPace, and wait at most longestTurn. So a stranger
	// cannot keep the owner out, and gains little. Addresses from which the account has
	// signed in take no turns.
	freeUserTries = 100
	userPace      = 500 * time.Millisecond
	longestTurn   = 15 * time.Second
	// strangersAtOnce bounds the tries under way from addresses that the account
	// has not signed in from: the other permits are for addresses that it has.
	strangersAtOnce = 24
	// maxWait is short, so that one caller does not lock out others behind the same
	// address for long.
	maxWait = time.Minute
	// forgetAfter is how long an account or address must be quiet before its count
	// restarts.
	forgetAfter = 15 * time.Minute
	guardLimit  = 10_000
	// knownAddrs are remembered of an account, for knownUsers accounts.
	knownAddrs = 8
	knownUsers = 10_000
	// recallEvery is how often the guard reads the past sign-ins of an account that many
	// callers guess at.
	recallEvery = time.Minute
)

// tries are the failures of one key: an account, an address, or both together.
type tries struct {
	count   int
	blocked time.Duration // monotonic moment before which nothing is checked
	last    time.Duration // monotonic moment of the latest try
	next    time.Duration // monotonic moment of the next free turn
	recall  time.Duration // monotonic moment from which the past is asked again
}

// limit is a key and how many tries of it are free.
type limit struct {
	key  string
	free int
}

// loginGuard slows down guessing. It is bounded and safe for concurrent use.
type loginGuard struct {
	mu        sync.Mutex
	byName    map[string]*tries
	strangers int
	// known are the addresses that an account signed in from, latest last.
	known map[string][]string
}

func newLoginGuard() *loginGuard {
	return &loginGuard{byName: map[string]*tries{}, known: map[string][]string{}}
}

// attempt is one try that was let through.
type attempt struct {
	guard         *loginGuard
	account, from string
	limits        []limit
	// stranger is true when the account has not signed in from there. inside is true
	// while the try holds one of the permits of strangers.
	stranger, inside bool
	// turn is how long to wait before anything is checked.
	turn time.Duration
}

// begin counts a try before it is made, so that parallel guesses do not slip
// through, or refuses it.
func (g *loginGuard) begin(now time.Duration, account, address string) (*attempt, error) {
	from, network := Origin(address)
	a := &attempt{guard: g, account: account, from: from, limits: []limit{
		{"pair " + account + " " + from, freePairTries}, {"addr " + from, freeAddrTries},
	}}
	if network != "" {
		a.limits = append(a.limits, limit{"net " + network, freeNetTries})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.check(now, a.limits); err != nil {
		return nil, err
	}
	if a.stranger = !slices.Contains(g.known[account], from); a.stranger {
		if err := g.takeTurn(now, a); err != nil {
			return nil, err
		}
	}
	for _, l := range a.limits {
		g.count(l, now)
	}
	g.tries("user "+account, now).count++
	return a, nil
}

// beginOwn is begin for a signed-in user who gives the password again: the tries of
// others do not count.
func (g *loginGuard) beginOwn(now time.Duration, userID string) (*attempt, error) {
	a := &attempt{guard: g, limits: []limit{{"own " + userID, freePairTries}}}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.check(now, a.limits); err != nil {
		return nil, err
	}
	g.count(a.limits[0], now)
	return a, nil
}

// check refuses a try of a key that must wait. g.mu is held, as in what follows.
func (g *loginGuard) check(now time.Duration, limits []limit) error {
	for _, l := range limits {
		if t := g.byName[l.key]; t != nil && now < t.blocked {
			return tooMany(t.blocked - now)
		}
	}
	return nil
}

// takeTurn makes a stranger wait for a turn on an account with many failures.
func (g *loginGuard) takeTurn(now time.Duration, a *attempt) error {
	t := g.byName["user "+a.account]
	if t == nil || t.count < freeUserTries || now-t.last > forgetAfter {
		return nil
	}
	at := max(now, t.next)
	if a.turn = at - now; a.turn > longestTurn {
		return tooMany(a.turn - longestTurn)
	}
	t.next = at + userPace
	return nil
}

func tooMany(wait time.Duration) error {
	f := apperror.New(apperror.KindTooMany, "too_many_logins", "too many failed sign-ins; wait and try again")
	f.RetryAfterSec = max(int(math.Ceil(wait.Seconds())), 1)
	return f
}

// tries returns the tries of a key; old ones restart at zero.
func (g *loginGuard) tries(key string, now time.Duration) *tries {
	t := g.byName[key]
	if t == nil || now-t.last > forgetAfter {
		g.makeRoom(now)
		t = &tries{}
		g.byName[key] = t
	}
	t.last = now
	return t
}

func (g *loginGuard) count(l limit, now time.Duration) {
	t := g.tries(l.key, now)
	t.count++
	if over := t.count - l.free; over >= 0 {
		// 1 s, 2 s, 4 s, … after the last free try.
		t.blocked = now + min(time.Second<<min(over, 10), maxWait)
	}
}

// enter takes a permit for the check, once the turn has come.
func (a *attempt) enter() error {
	g := a.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if !a.stranger {
		return nil
	}
	if g.strangers >= strangersAtOnce {
		return tooMany(time.Second)
	}
	g.strangers++
	a.inside = true
	return nil
}

// end takes the outcome: a success clears the tries on the account from this
// address, and what was no wrong guess is uncounted.
func (a *attempt) end(err error) {
	g := a.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if a.inside {
		g.strangers--
	}
	if apperror.Is(err, apperror.KindUnauthenticated) {
		return
	}
	for i, l := range a.limits {
		g.uncount(l, i == 0 && err == nil)
	}
	if a.account != "" {
		g.uncount(limit{"user " + a.account, freeUserTries}, false)
	}
	if err == nil && a.from != "" {
		g.remember(a.account, a.from)
	}
}

func (g *loginGuard) uncount(l limit, whole bool) {
	t := g.byName[l.key]
	switch {
	case t == nil:
	case whole, t.count <= 1:
		delete(g.byName, l.key)
	default:
		// Others behind the same address may have guessed wrong: their wait stays.
		if t.count--; t.count < l.free {
			t.blocked = 0
		}
	}
}

// wondersAbout reports whether a try would have to take a turn. Then the caller reads
// the past sign-ins first, once in recallEvery.
func (g *loginGuard) wondersAbout(now time.Duration, account, address string) bool {
	from, _ := Origin(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.byName["user "+account]
	if t == nil || t.count < freeUserTries || now-t.last > forgetAfter || now < t.recall ||
		slices.Contains(g.known[account], from) {
		return false
	}
	t.recall = now + recallEvery
	return true
}

// recall adds addresses of former sign-ins, latest first, to those that are known.
func (g *loginGuard) recall(account string, addresses []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := slices.Clone(g.known[account])
	for _, address := range addresses {
		if from, _ := Origin(address); len(known) < knownAddrs && !slices.Contains(known, from) {
			known = append([]string{from}, known...)
		}
	}
	if len(known) > 0 {
		g.keep(account, known)
	}
}

// remember keeps from where an account has signed in.
func (g *loginGuard) remember(account, from string) {
	addresses := append(slices.DeleteFunc(slices.Clone(g.known[account]), func(a string) bool { return a == from }), from)
	g.keep(account, addresses[max(0, len(addresses)-knownAddrs):])
}

func (g *loginGuard) keep(account string, addresses []string) {
	if _, there := g.known[account]; !there && len(g.known) >= knownUsers {
		for other := range g.known { // any: it costs that account its turns, no more
			delete(g.known, other)
			break
		}
	}
	g.known[account] = addresses
}

// Origin returns what identifies a caller by address. For IPv6 it also returns the larger
// network, because a caller with one address of a /64 has all of them.
func Origin(address string) (from, network string) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address, ""
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String(), ""
	}
	return prefix(ip, 64), prefix(ip, 48)
}

func prefix(ip netip.Addr, bits int) string {
	p, _ := ip.Prefix(bits) // bits fit an IPv6 address
	return p.String()
}

// accountKey is one key for all spellings of a name.
func accountKey(name string) string { return strings.ToLower(cut(name, maxUserName)) }

// makeRoom drops old entries. If that is not enough, it drops the eighth of the time span
// that was quiet longest. So it does not walk a full map for every new name.
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
