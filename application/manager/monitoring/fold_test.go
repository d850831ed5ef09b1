package monitoring_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// The transactions of a batch.
var steps = []string{"fold-open", "fold-shards", "fold-scopes", "fold-jobs", "fold-close", "fold-drop-fires"}

func seeded(t *testing.T) *rand.Rand {
	return rand.New(rand.NewPCG(randtest.Seed(t), 1))
}

// shardEnds are the ends of all shards of one fire of a job.
func (d *desk) shardEnds(job, shards int) (ends []*entity.Execution) {
	d.made++
	key := fmt.Sprint("sharded-", d.made)
	for i := range shards {
		ends = append(ends, d.end(job, entity.StatusSuccess, func(e *entity.Execution) {
			e.FireKey, e.ShardIndex, e.ShardTotal = key, i, shards
			e.Duration = time.Duration(i+1) * time.Second
		}))
	}
	return ends
}

// expectRun notes the run that ends of all shards of a fire come to.
func (d *desk) expectRun(ends []*entity.Execution) {
	run := statistics.End{
		Status: entity.StatusSuccess, Trigger: entity.TriggerSchedule, Version: 1, Started: true, Timed: true, Fires: 1,
	}
	run.Job, _ = identity.Bytes(ends[0].JobID)
	for _, e := range ends {
		run.Duration, run.Lateness = max(run.Duration, e.Duration), max(run.Lateness, e.Lateness())
		if run.At.Before(e.EndTime) {
			run.At = e.EndTime
		}
	}
	d.expect(&run, true)
}

// Whatever happens to any transaction of a batch, each row takes each end once.
func TestEndsCountOnceWhateverHappensToTheFold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d, r := newDesk(t, cfg), seeded(t)
		leaders := []*monitoring.Fold{d.fold(d.faults), d.fold(d.faults)}
		faults := []enginetest.Fault{
			enginetest.LostReply, enginetest.LostCommit, enginetest.Refused, enginetest.Deadlock,
		}
		for _, step := range steps {
			for _, fault := range faults {
				d.add(d.random(r, 30)...)
				whole := d.shardEnds(2, 3)
				d.add(whole...)
				d.expectRun(whole)
				apart := d.shardEnds(3, 4)
				d.add(apart[:2]...)
				d.expectRun(apart)
				d.faults.Next(step, fault)
				d.drain(leaders[r.IntN(2)])
				d.add(apart[2:]...)
				d.faults.Next(step, fault, fault)
				d.drain(leaders...)
				d.check()
			}
		}
		fires, err := d.store.Statistics.OpenedBefore(t.Context(), d.clock.Now().Add(time.Hour), 100)
		require.NoError(t, err)
		require.LessOrEqual(t, len(fires), 16, "fires that count are forgotten, but where that failed")
		require.NotContains(t, d.log.String(), "level=ERROR")
	})
}

// A leader that stood still at any step, while another one has closed the batch and
// opened others, changes nothing when it goes on.
func TestALeaderThatStoodStillChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		for _, step := range steps[1:5] {
			t.Run(step, func(t *testing.T) {
				d, r := newDesk(t, cfg), seeded(t)
				frozen, other := d.fold(d.faults), d.fold(d.store)
				whole := d.shardEnds(2, 3)
				d.add(append(d.random(r, 40), whole...)...)
				d.expectRun(whole)
				stopped := false
				d.faults.Before(func(name string) {
					if name != step || stopped {
						return
					}
					stopped = true
					d.clock.Advance(time.Minute)
					d.drain(other)
					d.add(d.random(r, 40)...)
					d.drain(other)
					d.clock.Advance(5 * 24 * time.Hour) // hours become days meanwhile
					n, err := other.Periods(t.Context())
					require.NoError(t, err)
					require.NotZero(t, n)
				})
				_, err := frozen.RunOnce(t.Context())
				require.NoError(t, err)
				require.True(t, stopped)
				days := map[repository.SumKey]*statistics.Row{}
				for k, row := range d.want {
					k.Period, k.Start = statistics.Day, statistics.DayOf(time.UnixMilli(k.Start), d.zone).UnixMilli()
					if days[k] == nil {
						days[k] = &statistics.Row{}
					}
					days[k].Merge(row)
				}
				d.want = days
				d.check()
			})
			cfg = fresh(t, cfg)
		}
	})
}

// Nor does it where the next batch is open meanwhile, of which no row has anything.
func TestALeaderThatStoodStillLeavesTheNextBatch(t *testing.T) {
	for _, step := range steps[1:5] {
		t.Run(step, func(t *testing.T) {
			d, r := newDesk(t, dbtest.SQLite(t)), seeded(t)
			faults := enginetest.NewFaults(d.store)
			frozen, other := d.fold(d.faults), d.fold(faults)
			more := func() {
				whole := d.shardEnds(2, 3)
				d.add(append(d.random(r, 40), whole...)...)
				d.expectRun(whole)
			}
			more()
			stopped := false
			d.faults.Before(func(name string) {
				if name != step || stopped {
					return
				}
				stopped = true
				d.clock.Advance(time.Minute)
				d.drain(other)
				more()
				faults.Next("fold-shards", enginetest.LostCommit)
				d.clock.Advance(time.Minute)
				_, err := other.RunOnce(t.Context())
				require.Error(t, err)
				require.NotEmpty(t, d.state().IDs)
			})
			_, err := frozen.RunOnce(t.Context())
			require.NoError(t, err)
			require.True(t, stopped)
			d.drain(other)
			d.check()
		})
	}
}

// fresh is another empty store of the same kind.
func fresh(t *testing.T, cfg persistence.Config) persistence.Config {
	if cfg.Driver == "sqlite" {
		return dbtest.SQLite(t)
	}
	return dbtest.Migrated(t)
}

// A job may go to another group between two tries of a batch: its runs do not count in
// both.
func TestAJobThatChangesItsGroupMeanwhileCountsOnce(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	d.add(d.end(0, entity.StatusSuccess, nil))
	d.faults.Next("fold-jobs", enginetest.LostCommit)
	leader := d.fold(d.faults)
	_, err := leader.RunOnce(t.Context())
	require.Error(t, err)
	d.write(func(ctx context.Context, tx repository.Tx) error {
		j, err := tx.Jobs.LockFull(ctx, d.jobs[0].ID)
		if err != nil {
			return err
		}
		j.Group = "group-1"
		return tx.Jobs.Update(ctx, j, false)
	})
	d.drain(leader)
	d.check()
}

// A row that cannot be read stops nobody.
func TestWhatCannotBeReadHoldsUpNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		job, _ := identity.Bytes(d.jobs[0].ID)
		d.write(func(ctx context.Context, tx repository.Tx) error {
			err := tx.Statistics.AddDigests(ctx, d.clock.Now(), []statistics.Digest{{Ends: 3, Data: []byte("broken")}})
			if err != nil {
				return err
			}
			return tx.Statistics.PutBaselines(ctx, []repository.StoredBaseline{{Job: job, Data: []byte("broken")}})
		})
		d.add(d.end(0, entity.StatusSuccess, nil))
		d.drain(d.fold(d.store))
		d.check()
		require.Contains(t, d.log.String(), "a digest of ends cannot be read")
		require.Contains(t, d.log.String(), "what is usual for a job cannot be read")
		d.write(func(ctx context.Context, tx repository.Tx) error {
			found, err := tx.Statistics.Baselines(ctx, []repository.BinaryID{job})
			require.NoError(t, err)
			state, err := baseline.Decode(found[job].Data)
			require.NoError(t, err)
			require.Equal(t, 1, state.Runs())
			return nil
		})
	})
}

// A backlog is added up in batches of bounded size.
func TestABatchIsBounded(t *testing.T) {
	d, r := newDesk(t, dbtest.SQLite(t)), seeded(t)
	for range 120 {
		d.add(d.random(r, 200)...)
	}
	d.clock.Advance(time.Millisecond)
	for range 1000 {
		d.add(d.random(r, 1)...)
	}
	most := 0
	d.faults.After(func(name string) {
		if name == "fold-open" {
			most = max(most, len(d.state().IDs))
		}
	})
	leader := d.fold(d.faults)
	d.faults.Next("fold-close", enginetest.Refused)
	_, err := leader.RunOnce(t.Context())
	require.Error(t, err)
	require.Equal(t, 100, len(d.state().IDs), "20,000 ends")
	d.drain(leader)
	require.Equal(t, 1000, most)
	d.check()
}

// While others work the fold yields: it waits for thirty times as long as the batch
// took. When nobody has ended for a second, it goes on.
func TestTheFoldYields(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	leader := d.fold(d.faults)
	took := 100 * time.Millisecond
	d.faults.After(func(name string) {
		if name == "fold-close" {
			d.clock.Advance(took)
			d.add(d.end(0, entity.StatusSuccess, nil)) // somebody works
		}
	})
	n, err := leader.RunOnce(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	run := func() int {
		n, err := leader.RunOnce(t.Context())
		require.NoError(t, err)
		return n
	}
	d.add(d.end(0, entity.StatusSuccess, nil))
	require.Equal(t, 1, run())
	d.clock.Advance(30*took - time.Millisecond)
	require.Zero(t, run(), "it waits for thirty times as long")
	d.clock.Advance(time.Millisecond)
	require.Equal(t, 1, run())

	took = time.Second
	d.clock.Advance(3 * time.Second)
	require.Equal(t, 1, run())
	d.clock.Advance(10*time.Second - time.Millisecond)
	require.Zero(t, run())
	d.clock.Advance(time.Millisecond)
	require.Equal(t, 1, run(), "ten seconds at most")
	took = 0
	d.faults.After(nil)
	d.clock.Advance(10 * time.Second)
	require.Equal(t, 1, run(), "the last one, and nobody works")
}

// A fold that lags waits for less, and at last not at all.
func TestAFoldThatLagsHurries(t *testing.T) {
	for _, c := range []struct{ lag, wait time.Duration }{
		{50 * time.Second, 3 * time.Second}, {70 * time.Second, 300 * time.Millisecond}, {3 * time.Minute, 0},
	} {
		t.Run(c.lag.String(), func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t))
			var many []*entity.Execution
			for range 101 * 200 { // a batch, and a bit
				many = append(many, d.end(0, entity.StatusSuccess, nil))
			}
			d.add(many...)
			d.clock.Advance(c.lag)
			d.faults.After(func(name string) {
				if name == "fold-close" {
					d.clock.Advance(100 * time.Millisecond)
					d.add(d.end(0, entity.StatusSuccess, nil)) // somebody works
					d.faults.After(nil)
				}
			})
			leader := d.fold(d.faults)
			n, err := leader.RunOnce(t.Context())
			require.NoError(t, err)
			if c.wait == 0 {
				require.Equal(t, 20_201, n)
			} else {
				require.Equal(t, 20_000, n)
				d.clock.Advance(c.wait - time.Millisecond)
				n, err = leader.RunOnce(t.Context())
				require.NoError(t, err)
				require.Zero(t, n)
				d.clock.Advance(time.Millisecond)
				_, err = leader.RunOnce(t.Context())
				require.NoError(t, err)
			}
			d.drain(leader)
			d.check()
		})
	}
}

// A run that takes longer than usual is told of once, with the numbers, in the
// transaction in which the baseline learns it.
func TestWhatIsUnusualIsToldOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		leader := d.fold(d.faults)
		for range 30 {
			d.clock.Advance(time.Minute)
			d.add(d.end(0, entity.StatusSuccess, nil))
		}
		d.drain(leader)
		d.clock.Advance(time.Minute)
		d.add(d.end(0, entity.StatusSuccess, func(e *entity.Execution) { e.Duration = time.Minute }))
		d.faults.Next("fold-jobs", enginetest.LostReply)
		d.drain(leader)
		events, err := d.store.PendingEvents(t.Context(), entity.ReaderRules, 0, 100)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, []string{monitoring.EventUnusual, entity.TopicJobs, d.jobs[0].ID},
			[]string{events[0].Type, events[0].Topic, events[0].Key})
		require.Contains(t, events[0].Payload, `"code":"SLOW_RUN"`)
		require.Contains(t, events[0].Payload, `"valueMs":60000`)
		require.Contains(t, events[0].Payload, "It took 1m0s. It usually takes 1s")
		require.Equal(t, 1, d.told)

		// Nobody is told of what was unusual hours ago: it is added up late.
		d.add(d.end(0, entity.StatusSuccess, func(e *entity.Execution) {
			e.EndTime, e.Duration = e.EndTime.Add(-2*time.Hour), 5*time.Minute
		}))
		d.drain(leader)
		events, err = d.store.PendingEvents(t.Context(), entity.ReaderRules, 0, 100)
		require.NoError(t, err)
		require.Len(t, events, 1)
	})
}

// Ends that do not count for two minutes are trouble, which the node says that adds up.
func TestAFoldThatLagsSaysSo(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	leader, other := d.fold(d.faults), d.fold(d.store)
	behind := func(f *monitoring.Fold) string {
		reason, blocks := f.Behind()
		require.False(t, blocks)
		return reason
	}
	d.add(d.end(0, entity.StatusSuccess, nil))
	d.faults.Next("fold-jobs", enginetest.Refused, enginetest.Refused, enginetest.Refused)
	for _, lag := range []time.Duration{0, time.Minute, time.Minute} {
		d.clock.Advance(lag)
		_, err := leader.RunOnce(t.Context())
		require.Error(t, err)
		require.Empty(t, behind(leader))
	}
	d.clock.Advance(time.Second)
	require.Contains(t, behind(leader), "ends of the last 2m1s")
	require.Empty(t, behind(other), "it does not add up")
	d.clock.Advance(time.Minute)
	require.Empty(t, behind(leader), "somebody else may lead meanwhile")
	_, err := leader.RunOnce(t.Context())
	require.NoError(t, err)
	require.Empty(t, behind(leader))
	d.check()
}

// Of a job that was purged runs count, but nothing is learned: nobody would forget it.
func TestOfAPurgedJobNothingIsLearned(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	gone := &entity.Job{ID: identity.RandomID(enginetest.Noon)}
	d.jobs = append(d.jobs, gone)
	d.add(d.end(5, entity.StatusSuccess, nil), d.end(0, entity.StatusSuccess, nil))
	d.drain(d.fold(d.store))
	d.check()
	id, _ := identity.Bytes(gone.ID)
	known, _ := identity.Bytes(d.jobs[0].ID)
	found, err := d.store.Statistics.BaselinesOf(t.Context(), []repository.BinaryID{id, known})
	require.NoError(t, err)
	require.Contains(t, found, known)
	require.NotContains(t, found, id)
}
