package answer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// The store gives an unknown answer to any statement or commit of the loops behind the engine, once or for a while.
// Each failure is still counted, told and summed up once.
func TestAnAnswerOfTheStoreLosesNothingBehindTheEngine(t *testing.T) {
	ask := func(t *testing.T, mysql bool, places []string, answered func(n int) error) {
		b := newBehind(t, mysql)
		standing := b.Add(t, enginetest.Job("standing", nil))
		b.fail(standing)
		require.Empty(t, b.rest())
		given := map[string]int{}
		for _, name := range order {
			for _, place := range places {
				// Each statement of the loop is answered in its turn, and at last all of them for a while.
				for skip, met := 0, true; met; skip++ {
					job := b.Add(t, enginetest.Job(fmt.Sprint(name, place, skip), nil))
					b.fail(job)
					for _, before := range order { // up to the loop
						if before == name {
							break
						}
						for range 3 {
							require.NoError(t, b.loops[before](t.Context()))
							b.rig.Clock.Advance(time.Second)
						}
					}
					b.rig.Clock.Advance(time.Minute)
					b.rig.store.Set(&answer.Rule{Place: placeOf[place], Skip: skip, Times: 1, Err: answered(skip)})
					_ = b.loops[name](t.Context())
					met = b.rig.store.Given() > 0
					given[name+" "+place] += b.rig.store.Given()
					b.rig.store.Set(nil)
					require.Empty(t, b.rest(), "%s, %s, statement %d", name, place, skip)
				}
				b.fail(standing)
				b.rig.Clock.Advance(time.Minute)
				b.rig.store.Set(&answer.Rule{Place: placeOf[place], Err: answered(1)})
				for range 4 { // for 2 s
					_ = b.loops[name](t.Context())
					b.rig.Clock.Advance(500 * time.Millisecond)
				}
				b.rig.store.Set(nil)
				require.Empty(t, b.rest(), "%s, %s, for a while", name, place)
			}
		}
		for _, name := range order {
			require.Positive(t, given[name+" "+statement], name)
		}
	}
	bubble(t, "sqlite", func(t *testing.T) {
		unknown := unknownToSQLite(t)
		ask(t, false, []string{statement, insteadOfCommit}, func(int) error { return unknown })
	})
	bubble(t, "mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		ask(t, true, []string{statement, insteadOfCommit, afterCommit}, func(n int) error {
			return answer.Numbers()[n%len(answer.Numbers())].Err()
		})
	})
}

// An answer that only the rows of one job meet, for good, stops only the alerts and sums of that job.
func TestAnAnswerAboutOneJobStopsNothingBehindTheEngine(t *testing.T) {
	ask := func(t *testing.T, mysql bool, answered error) {
		for _, name := range []string{"take", "plan", "fold"} {
			bubble(t, name, func(t *testing.T) {
				b := newBehind(t, mysql)
				bad, good := b.Add(t, enginetest.Job("bad", nil)), b.Add(t, enginetest.Job("good", nil))
				match := answer.Of(bad.ID)
				if name == "fold" {
					id, _ := identity.Bytes(bad.ID)
					match = answer.OfBytes(id[:])
				}
				b.fail(bad)
				b.fail(good)
				if name == "plan" {
					require.NoError(t, b.loops["take"](t.Context()))
					all := b.Alerts()
					require.Len(t, all, 2)
					for _, a := range all {
						if a.JobID == bad.ID {
							match = answer.Of(a.ID)
						}
					}
				}
				b.rig.store.Set(&answer.Rule{Place: answer.Statement, Match: match, Err: answered})
				b.fail(good)
				require.Empty(t, b.rest(bad.ID))
				require.Positive(t, b.rig.store.Given())
				b.rig.store.Set(nil)
			})
		}
	}
	t.Run("sqlite", func(t *testing.T) { ask(t, false, unknownToSQLite(t)) })
	t.Run("mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		ask(t, true, answer.Numbers()[0].Err())
	})
}

// The store gives an unknown answer while a node takes over the runs of a dead node. Each still runs again, once, and
// nothing keeps a slot.
func TestAnAnswerOfTheStoreLosesNoRunOfADeadNode(t *testing.T) {
	ask := func(t *testing.T, mysql bool, places []string, answered func(n int) error) {
		r := newRigOf(t, mysql, enginetest.Options{}, 0)
		for i := range 8 * len(places) {
			place := places[i%len(places)]
			other := enginetest.On(t, r.Store, enginetest.Options{
				Clock: r.Clock, NodeID: fmt.Sprint("node-", i+2), Epoch: 1,
			})
			other.Script.Hold()
			stop := other.Start(t)
			var jobs []*entity.Job
			for k, overlap := range []entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapParallel} {
				jobs = append(jobs, r.Add(t, enginetest.Job(fmt.Sprint("job ", i, k), func(j *entity.Job) {
					enginetest.Every(time.Hour)(j)
					j.Schedule.Anchor = r.Clock.Now().Add(-time.Hour)
					j.Overlap = overlap
					j.Retry.MaxRetries, j.Retry.IntervalMs = 3, 1000
				})))
			}
			other.Fire(t)
			other.Script.Await(t, len(jobs))
			other.Lease.Lose() // it stands still
			other.Die(t)
			r.store.Set(&answer.Rule{Place: placeOf[place], Skip: i / len(places), Times: 1 - i%2, Err: answered(i)})
			for range 20 {
				_, _ = r.Runner.Reap(t.Context(), fmt.Sprint("node-", i+2), 1)
				r.turn(t, 100*time.Millisecond)
			}
			r.store.Set(nil)
			r.await(t, "the runs of the dead node go on", func() bool {
				_, _ = r.Runner.Reap(t.Context(), fmt.Sprint("node-", i+2), 1)
				return r.settled(t, 1, jobs...)
			})
			for _, job := range jobs {
				execs := r.Executions(t, job.ID)
				require.Len(t, execs, 1)
				require.Equal(t, entity.StatusSuccess, execs[0].Status, execs[0].ErrorMessage)
				require.Equal(t, 2, execs[0].Attempt, "it ran again once")
			}
			stop()
		}
	}
	bubble(t, "sqlite", func(t *testing.T) {
		unknown := unknownToSQLite(t)
		ask(t, false, []string{statement, insteadOfCommit}, func(int) error { return unknown })
	})
	bubble(t, "mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		ask(t, true, []string{statement, insteadOfCommit, afterCommit}, func(n int) error {
			return answer.Numbers()[n%len(answer.Numbers())].Err()
		})
	})
}
