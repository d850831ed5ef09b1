package fault_test

import (
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var leaseLong = flag.Bool("lease.long", false,
	"the long forms of the tests of leases: all outages three times, with and without Redis, and 20 cuts")

const stopsItsWork = "this node stops its work"

// An outage of the store for everybody kills nothing, with and without Redis.
func TestAnOutageOfTheStoreKillsNoRun(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	type outage struct {
		name string
		span time.Duration
		kill bool
	}
	outages, redis, times := []outage{{"frozen", 7 * time.Second, false}}, []bool{true}, 1
	if *leaseLong {
		outages = []outage{
			{"frozen", 15 * time.Second, false},
			{"frozen", 30 * time.Second, false},
			{"killed", 15 * time.Second, true},
		}
		redis, times = []bool{true, false}, 3
	}
	for _, with := range redis {
		t.Run(fmt.Sprintf("redis=%v", with), func(t *testing.T) {
			s := newStage(t, with, false)
			for _, o := range outages {
				for i := range times {
					jobs := s.spread(9, int((o.span + 25*time.Second).Milliseconds()))
					before := s.epochs()
					if o.kill {
						require.NoError(t, s.server.Kill(t.Context()))
					} else {
						require.NoError(t, s.server.Freeze())
					}
					time.Sleep(o.span)
					if o.kill {
						require.NoError(t, s.server.Up(t.Context()))
					} else {
						require.NoError(t, s.server.Thaw())
					}
					back := time.Now()
					s.settle()
					again, cut := 0, 0
					for _, c := range s.began(jobs) {
						if c.Attempt > 1 {
							again++
						}
						if c.Answer == history.AnswerCut {
							cut++
						}
					}
					t.Logf("store %s for %s (%d): %d of 9 runs cut, %d began again, %d stops; all UP %s after its return",
						o.name, o.span, i+1, cut, again, s.logged(stopsItsWork), time.Since(back).Round(100*time.Millisecond))
					require.Zero(t, again+cut)
					require.Zero(t, s.logged(stopsItsWork))
					require.Equal(t, before, s.epochs(), "nobody was declared dead")
				}
			}
		})
	}
}

// Cut from the store and from the others, a node stops before these take over.
func TestANodeThatIsCutOffStopsFirst(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	newStage(t, true, true).cutOff(t)
}

// cutOff cuts a node from the store and from the others: what it runs ends before
// it begins elsewhere.
func (s *stage) cutOff(t *testing.T) {
	rounds := 1
	if *leaseLong {
		rounds = 20
	}
	least := time.Hour
	for i := range rounds {
		jobs := s.spread(6, 30_000)
		victim, held := s.busiest(jobs)
		time.Sleep(time.Duration(mathrand.IntN(500)) * time.Millisecond)
		at := time.Now()
		for _, m := range s.rig.Members {
			m.Door.Set(rig.BlackHole)
		}
		victim.Store.Set(rig.BlackHole)
		victim.Hints.Set(rig.BlackHole)
		time.Sleep(7 * time.Second)
		require.NoError(t, s.rig.Heal(t.Context()))
		ended, began := time.Duration(0), time.Hour
		for _, c := range s.began(jobs) {
			switch {
			case !slices.Contains(held, c.Execution):
			case c.Attempt == 1:
				require.Equal(t, history.AnswerCut, c.Answer)
				ended = max(ended, c.End.Sub(at))
			default:
				began = min(began, c.Start.Sub(at))
			}
		}
		t.Logf("cut off (%d): %d runs ended %s after the cut at the latest, and began again after %s at the earliest: "+
			"margin %s",
			i+1, len(held), ended.Round(time.Millisecond), began.Round(time.Millisecond),
			(began - ended).Round(time.Millisecond))
		require.NotEqual(t, time.Hour, began)
		least = min(least, began-ended)
		s.settle()
	}
	t.Logf("the least margin of %d cuts: %s", rounds, least.Round(time.Millisecond))
	require.Positive(t, least)
}
