package model_test

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// A tick is over half a beat and a third of the lease of 20 s: two ticks are more than 2.5 beats of 5 s,
// three are more than a lease. So every order of take-over and lease end has its moment.
const tick = 7 * time.Second

var (
	timing = delivery.TimingFor(1)
	epoch0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	names  = [2]string{"a", "b"}
)

// The states of a run in the store, and its holder.
const (
	waiting = iota
	running
	done
)

const (
	nobody = iota
	worker
	elsewhere
)

// Row is a run in the store.
type Row struct {
	Status, Holder  int
	Epoch, Token    int64
	EndToken, Count int64
}

// Gate is one life of a gateway. Session is its only memory.
type Gate struct {
	Life    int
	Session delivery.Session
	Epoch   int64
	// Caller is the process whose poll is the newest; Waiting while that has no answer.
	Caller, CallerLife int
	Waiting            bool
	// Free and Ack are of the newest poll, Claims counts what was claimed for it.
	Free, Claims int
	Ack          int64
	// Beat is what becomes of beats from now on, SlowRead of the next read.
	Beat     fate
	SlowRead bool
	// Gave is what former answers delivered; only a seeded violation remembers it.
	Gave []given
}

// fate is what becomes of a beat at the store.
type fate int

const (
	fateStored fate = iota
	fateLost
	fateReplyLost
	fateSlow
)

type given struct {
	seq     int64
	attempt delivery.Attempt
}

// Proc is a process under the one instance name. Two may be there at once.
type Proc struct {
	Alive, Registering, Polling, Reporting bool
	Life                                   int // of the process; messages for a former one are dropped
	Boot                                   int
	At                                     int   // the gateway that it calls
	Asked                                  int64 // the newest poll
	Has                                    bool
	L                                      attempts.Life
}

// kinds of messages, and of store writes and reads that are slow.
const (
	mRegister = iota
	mRegistered
	mPoll
	mAnswer
	mReport
	mReceipts
	mLeave
	mClaim
	mBeat
	mRows
)

// Msg is under way. It may stay so for ever: then it is lost.
type Msg struct {
	Kind, Proc, Life, Gate, Boot, Run int
	Epoch, Seq                        int64
	At                                attempts.Instant
	Poll                              attempts.Poll
	Answer                            attempts.Answer
	Ends                              []attempts.End
	Receipts                          []attempts.Receipt
	Rows                              []delivery.Run
	Refused                           bool
}

// World is everything. Slices are never changed in place: a copy is a clone.
type World struct {
	Now    int
	Reg    delivery.Registration
	Runs   [2]Row
	Gates  [2]Gate
	Procs  [2]Proc
	Net    []Msg
	Faults int
	Boots  int
	// Started has a bit for each token of a run that some process began.
	Started [2]uint32
}

func (w *World) instant() attempts.Instant {
	return attempts.Instant(time.Duration(w.Now)*tick) + attempts.Instant(time.Hour)
}
func (w *World) time() time.Time { return epoch0.Add(time.Duration(w.Now) * tick) }
func (w *World) boot() int       { w.Boots++; return w.Boots }
func (w *World) send(m Msg)      { w.Net = append(slices.Clip(w.Net), m) }
func (w *World) at() time.Duration {
	return time.Duration(w.Now)*tick + time.Hour
}

// held are the rows that the store holds as RUNNING for the worker and an epoch.
func (w *World) held(epoch int64) (out []delivery.Run) {
	for i, r := range w.Runs {
		if r.Status == running && r.Holder == worker && r.Epoch == epoch {
			out = append(out, delivery.Run{Attempt: delivery.Attempt{Execution: names[i], Token: r.Token}})
		}
	}
	return out
}

// claim is a claim's transaction: conditional on WAITING, and on nothing of the worker.
func (w *World) claim(run, holder int, epoch int64) []delivery.Run {
	r := &w.Runs[run]
	if r.Status != waiting {
		return nil
	}
	r.Status, r.Holder, r.Epoch, r.Token = running, holder, epoch, r.Token+1
	return []delivery.Run{{Attempt: delivery.Attempt{Execution: names[run], Token: r.Token}}}
}

func runOf(execution string) int { return slices.Index(names[:], execution) }

// first is a world at rest: nothing registered, two runs wait.
func first(c *config) World {
	w := World{Faults: c.faults}
	for i := range w.Procs {
		w.Procs[i].Life = 1
	}
	for i := range w.Gates {
		w.Gates[i] = Gate{Life: 1, Session: delivery.NewSession(0)}
	}
	w.start(0)
	return w
}

func (w *World) start(p int) {
	life := w.Procs[p].Life + 1
	w.Procs[p] = Proc{Alive: true, Life: life, Boot: w.boot()}
}

// kill ends a process: what is under way to it never arrives.
func (w *World) kill(p int) {
	w.Procs[p] = Proc{Life: w.Procs[p].Life + 1}
	w.Net = slices.DeleteFunc(slices.Clone(w.Net), func(m Msg) bool {
		return m.Proc == p && (m.Kind == mAnswer || m.Kind == mReceipts || m.Kind == mRegistered)
	})
}

// renew gives a process another boot id, after its life was over.
func (w *World) renew(p int) {
	w.kill(p)
	w.start(p)
}

// restart loses what a gateway knew, and the calls that wait at it.
func (w *World) restart(g int) {
	life := w.Gates[g].Life + 1
	w.Gates[g] = Gate{Life: life, Session: delivery.NewSession(0)}
	w.Net = slices.DeleteFunc(slices.Clone(w.Net), func(m Msg) bool { return m.Kind == mRows && m.Gate == g })
}
