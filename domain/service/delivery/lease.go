package delivery

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// The bounds of a beat, and how many calls a second all workers make together before it grows.
const (
	minBeat        = 5 * time.Second
	maxBeat        = 20 * time.Second
	callsPerSecond = 400
)

// Timing holds the two periods of a worker. A poll waits for a beat at most.
type Timing struct{ Beat, Lease time.Duration }

// TimingFor is the timing for so many workers in the cluster.
func TimingFor(workers int) Timing {
	beat := min(max(time.Duration(workers)*time.Second/callsPerSecond, minBeat), maxBeat)
	return Timing{Beat: beat, Lease: 3*beat + 5*time.Second}
}

// State is what the store says of the life of a worker.
type State uint8

// The states. A worker that left holds nothing, and one that is DOWN has lost what it held.
const (
	StateUp State = iota
	StateLeft
	StateDown
)

// Registration is what the store keeps of a worker id. Its times are the store's.
type Registration struct {
	// Boot names the life: a process draws a new one when it starts, and when its lease was over.
	Boot string
	// Epoch counts the lives of the id; 0: it never had one.
	Epoch int64
	State State
	// Timing is that of the last beat. Its lease is the longest of the life.
	Timing Timing
	// LastBeat is the last *stored* beat, LeaseUntil the end of the lease by all of them.
	LastBeat, LeaseUntil time.Time
	// FormerUntil is when the leases of all former epochs are over.
	FormerUntil time.Time
}

// RegistrationOf is what the row of a worker says; nil is none.
func RegistrationOf(w *worker.Worker) Registration {
	if w == nil {
		return Registration{}
	}
	r := Registration{
		Boot: w.Boot, Epoch: w.Epoch, Timing: Timing{Beat: w.Beat, Lease: w.Lease}, LastBeat: w.LastBeat,
		LeaseUntil: w.LeaseUntil(), FormerUntil: w.Former.Until,
	}
	if w.Status == worker.Down {
		r.State = StateDown
	}
	return r
}

// Register enters a life. The same boot id gets the same epoch, so the call may be repeated. Another one is
// refused while the last stored beat is younger than 2.5 beats: two processes have one instance name. After
// that it gets the next epoch and new work at once. The former process may still do what it holds, until its
// own lease is over: FormerUntil keeps that, the latest of all former ones. It is false when refused.
func (r Registration) Register(boot string, t Timing, now time.Time) (Registration, bool) {
	alive := r.Epoch > 0 && r.State == StateUp
	if alive && r.Boot == boot {
		return r.renewed(t, now), true
	}
	if alive && now.Sub(r.LastBeat) < r.Timing.Beat*5/2 {
		return r, false
	}
	next := Registration{Boot: boot, Epoch: r.Epoch + 1, FormerUntil: r.FormerUntil}
	if alive {
		next.FormerUntil = later(r.FormerUntil, r.LeaseUntil)
	}
	return next.renewed(t, now), true
}

// Beat renews the lease of a life. It is false, and nothing is stored, for another epoch and for a worker
// that is not UP: nobody may take that for a renewal.
func (r Registration) Beat(epoch int64, t Timing, now time.Time) (Registration, bool) {
	if epoch != r.Epoch || r.State != StateUp {
		return r, false
	}
	return r.renewed(t, now), true
}

// renewed never makes the lease of a life shorter, nor brings its end forward. The worker may have been told
// of the longer one, and counts on it when an answer says Hold.
func (r Registration) renewed(t Timing, now time.Time) Registration {
	t.Lease = max(t.Lease, r.Timing.Lease)
	r.Timing, r.LastBeat, r.LeaseUntil = t, now, later(r.LeaseUntil, now.Add(t.Lease))
	return r
}

// Leave ends a life that holds nothing any more. Other epochs are left alone.
func (r Registration) Leave(epoch int64) Registration {
	if epoch == r.Epoch && r.State == StateUp {
		r.State = StateLeft
	}
	return r
}

// Lost reports whether the store may give away what the worker holds under an epoch. At the very end of a lease it may
// not: the store cuts its times to milliseconds, and so the lease may last a little longer. Once true it stays
// true, and a claim for that epoch may still be stored afterwards. So the search for lost runs is repeated.
func (r Registration) Lost(epoch int64, now time.Time) bool {
	if epoch == r.Epoch {
		return r.State != StateUp
	}
	return epoch < r.Epoch && now.After(r.FormerUntil)
}

// Over is a lease that a look found to be over.
type Over struct {
	Epoch int64
	Until time.Time
}

// Expired compares a look at the worker with what the former look found. It returns what this look found,
// and true when the worker is DOWN. beating is for how long the node that looks has beaten without a gap. It
// must be a worker's lease and a node's, because gateways that answer Hold renew leases without the store, for
// so long (HoldUntil).
func (r Registration) Expired(former Over, now time.Time, beating, nodeLease time.Duration) (Over, bool) {
	if r.Epoch == 0 || r.State != StateUp || !now.After(r.LeaseUntil) || beating < r.Timing.Lease+nodeLease {
		return Over{}, false
	}
	found := Over{Epoch: r.Epoch, Until: r.LeaseUntil}
	return found, found == former
}

// Down declares a worker DOWN, unless it has beaten or got another life since the looks.
func (r Registration) Down(found Over) (Registration, bool) {
	if r.State != StateUp || found != (Over{Epoch: r.Epoch, Until: r.LeaseUntil}) {
		return r, false
	}
	r.State = StateDown
	return r, true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// HoldUntil is until when a gateway may answer Hold while its store is away. Its own lease must hold, which is
// until the earliest promise. And each node that may declare workers DOWN must have had a gap in its beats since:
// away is when this gateway last asked the last of them that said so. A gateway that is cut off alone has none,
// and renews no lease that others see end. All are readings of the gateway's own clock.
func HoldUntil(promise, away, nodeLease time.Duration) time.Duration {
	return min(promise, away+nodeLease)
}
