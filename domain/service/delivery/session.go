package delivery

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxBeatWait is how long a beat may wait at a gateway. An older one is dropped: a gateway that was
// frozen would tell the store of a worker that may be long dead.
const MaxBeatWait = 2 * time.Second

// Arrival is what a poll is to a session.
type Arrival uint8

// The arrivals of polls.
const (
	// ArrivalNew: the newest so far; it may wait for work.
	ArrivalNew Arrival = iota
	// ArrivalRepeated: the newest, once more. It gets the answer of the first, now or when there is one.
	ArrivalRepeated
	// ArrivalOutdated: a newer one was seen. It is answered at once, with nothing.
	ArrivalOutdated
	// ArrivalForeign: of another epoch; it belongs to another session.
	ArrivalForeign
)

// Session is what one gateway knows of one epoch of one worker. It may begin at any poll, without memory:
// the store's rows decide, not what a gateway remembers. Its rule is short. A worker takes runs from the
// answer to its newest poll alone, and that poll lists all that it holds. So an attempt that the store
// held as RUNNING *after* the poll came, and that the poll does not list, was never taken, and nothing but
// an answer to this poll can deliver it. A read that began before says nothing: the attempt may have ended
// since.
//
// A Session is not safe for concurrent use. Its slices are never changed in place, so a copy is independent.
type Session struct {
	epoch int64
	poll  Poll
	given Answer
	// answered: given was sent. read: what the store holds is known for this poll.
	answered, read bool
	// cut: a bound left runs out of the answer, so the next poll needs a read.
	cut bool
	// claiming: a claim for this worker is under way.
	claiming bool
	// callers is how many calls wait for the answer to the poll; a call that comes twice waits twice.
	callers  int
	beatSeq  int64
	beatAt   time.Duration
	leaseSeq int64
	lease    time.Duration
}

// NewSession returns a session without memory. Until it has stored a beat, its answers renew no lease: it does
// not know which lease was stored before.
func NewSession(epoch int64) Session { return Session{epoch: epoch, answered: true} }

// Poll takes a poll that came at that moment, in monotonic time that counts sleep (CLOCK_BOOTTIME).
// It skips the read where memory suffices: the worker took the answer to its last poll, and that was given
// here. Such a session can still miss what another gateway claimed late for an older poll. So each session
// gets Held every few seconds all the same.
func (s *Session) Poll(p Poll, at time.Duration) Arrival {
	switch {
	case p.Epoch != s.epoch:
		return ArrivalForeign
	case p.Seq < s.poll.Seq:
		return ArrivalOutdated
	case p.Seq == s.poll.Seq:
		s.callers++
		return ArrivalRepeated
	}
	s.callers = 1
	s.read = s.read && s.answered && !s.cut && p.Seq == s.poll.Seq+1 && p.Ack == s.poll.Seq
	s.poll, s.given, s.answered, s.cut = p, Answer{Seq: p.Seq}, false, false
	s.beatSeq, s.beatAt = p.Seq, at
	return ArrivalNew
}

// Gone notes that a call of poll seq broke off. While no call waits, nothing is claimed for it: the worker may be dead,
// and a run that was claimed for it would wait for the end of its lease.
func (s *Session) Gone(seq int64) {
	if seq == s.poll.Seq && s.callers > 0 {
		s.callers--
	}
}

// Seq is the newest poll; a read or a claim for it begins with this number and comes back with it.
func (s *Session) Seq() int64 { return s.poll.Seq }

// Unread reports whether the poll needs a read of what the store holds, at once. Nothing is claimed before.
func (s *Session) Unread() bool { return !s.answered && !s.read }

// Held takes all that the store holds as RUNNING for the worker and its epoch, by a read that began when
// seq was the newest poll. It is false, and changes nothing, when that poll is answered or not the newest
// any more. Runs that the poll does not list are delivered, also beyond its free slots and to a worker that
// stops: they are its own, and nobody else may begin them. The worker gives back what it cannot begin.
// Listed attempts that the store does not hold are lost.
func (s *Session) Held(seq int64, runs []Run) bool {
	if s.answered || seq != s.poll.Seq {
		return false
	}
	listed := make(map[Attempt]bool, len(s.poll.Running))
	for _, a := range s.poll.Running {
		listed[a] = true
	}
	var deliver []Run
	for _, r := range runs {
		if !listed[r.Attempt] {
			deliver = append(deliver, r)
		}
		delete(listed, r.Attempt)
	}
	s.deliver(deliver)
	for _, a := range s.poll.Running {
		if listed[a] {
			s.Stop(Stop{Attempt: a, Reason: StopLost})
		}
	}
	s.read = true
	return true
}

// deliver adds runs to the answer, each once.
func (s *Session) deliver(runs []Run) {
	out := slices.Clip(s.given.Runs)
	for _, r := range runs {
		if slices.Contains(s.given.Runs, r) {
			continue
		}
		if len(out) == MaxRuns {
			s.cut = true
			break
		}
		out = append(out, r)
	}
	s.given.Runs = out
}

// Cut notes that runs were left out of the answer to poll seq, which was too long with them.
func (s *Session) Cut(seq int64) { s.cut = s.cut || seq == s.poll.Seq }

// Credits is how many runs of each kind may be claimed for the poll: never more than its free slots,
// together with what the answer delivers already. It is nothing while another claim is under way, whose
// number is not known yet, nor while no call waits for the answer.
func (s *Session) Credits() (free entity.Slots) {
	if s.answered || !s.read || s.claiming || s.poll.Stopping || s.callers == 0 {
		return free
	}
	free = s.poll.Free
	for _, r := range s.given.Runs {
		free[r.Kind]--
	}
	left := MaxRuns - len(s.given.Runs)
	for k := range free {
		free[k] = min(max(free[k], 0), left)
		left -= free[k]
	}
	return free
}

// Claiming notes that a claim begins, and returns the poll that it is for.
func (s *Session) Claiming() int64 {
	s.claiming = true
	return s.poll.Seq
}

// Claimed ends the claim that began for poll seq; known is false where its result is not. Runs for a poll
// that is answered, or not the newest any more, are not delivered here. Another gateway may have done that
// since, and the run may have ended. They need a read, and so does a result that is not known.
func (s *Session) Claimed(seq int64, runs []Run, known bool) {
	s.claiming = false
	if known && seq == s.poll.Seq && !s.answered {
		s.deliver(runs)
		return
	}
	if !known || len(runs) > 0 {
		s.read = false
	}
}

// Stop asks for the end of an attempt in the answer; false where the answer was given already, and for an attempt that
// the poll does not list.
func (s *Session) Stop(stop Stop) bool {
	if s.answered || !slices.Contains(s.poll.Running, stop.Attempt) {
		return false
	}
	if !slices.Contains(s.given.Cancel, stop) {
		s.given.Cancel = append(slices.Clip(s.given.Cancel), stop)
	}
	return true
}

// Ready reports whether the answer should not wait: it holds something, or it was given before and got lost.
func (s *Session) Ready() bool {
	return s.answered || len(s.given.Runs) > 0 || len(s.given.Cancel) > 0 || s.poll.Stopping && s.read
}

// Answer is the answer to the newest poll. From the first call on it stays the same.
func (s *Session) Answer() Answer {
	if !s.answered {
		s.answered = true
		s.given.LeaseSeq, s.given.Lease = s.leaseSeq, s.lease
	}
	return s.given
}

// Hold is the answer of a gateway whose store is away, until HoldUntil. It delivers nothing, because nothing
// was read. It is false later: the caller refuses the poll then, and the worker goes elsewhere.
func (s *Session) Hold(now, until time.Duration) (Answer, bool) {
	if s.answered || now >= until {
		return Answer{}, false
	}
	s.given.Runs, s.given.Cancel, s.given.Hold, s.read = nil, nil, true, false
	return s.Answer(), true
}

// Beat is the poll whose beat is to be stored; false when there is none, or it has waited too long.
func (s *Session) Beat(now time.Duration) (seq int64, ok bool) {
	return s.beatSeq, s.beatSeq > s.leaseSeq && now-s.beatAt <= MaxBeatWait
}

// Stored notes that the store has the beat of poll seq, with that lease. Only this renews what answers say
// of the lease. A statement that found the worker DOWN, or under another epoch, has stored nothing.
func (s *Session) Stored(seq int64, lease time.Duration) {
	if seq > s.leaseSeq {
		s.leaseSeq, s.lease = seq, lease
	}
}
