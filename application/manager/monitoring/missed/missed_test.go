package missed_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring/missed"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// desk is a store with nodes of two releases, and the leaders of the new one.
type desk struct {
	*testing.T
	store    *persistence.Store
	faults   *enginetest.Faults
	clock    *clocktest.Manual
	jobs     []*entity.Job
	alive    bool
	folds    []*monitoring.Fold
	searches []*missed.Search
	events   int
}

func newDesk(t *testing.T, cfg persistence.Config, jobs []*entity.Job) *desk {
	d := &desk{T: t, clock: clocktest.NewManual(enginetest.Noon), jobs: jobs}
	cfg.Clock = d.clock
	d.store = dbtest.Open(t, cfg)
	d.faults = enginetest.NewFaults(d.store)
	d.write(func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Insert(ctx, jobs...) })
	for range 2 {
		d.folds = append(d.folds, monitoring.NewFold(monitoring.FoldDeps{
			Store: d.faults, Digests: d.store.Statistics, Clock: d.clock, StoreClock: d.clock, Zone: time.UTC,
			Readers: entity.EventReaders{Rules: true}, EventsAdded: func() { d.events++ }, Logger: slog.New(slog.DiscardHandler),
		}))
		d.searches = append(d.searches, missed.New(missed.Deps{
			Store: d.faults, Rows: d.store.Executions, Ends: d.store.Statistics, Former: func() (alive, known bool) {
				return d.alive, true
			},
			Clock: d.clock, StoreClock: d.clock, Logger: slog.New(slog.DiscardHandler),
		}))
	}
	return d
}

func newJobs() (jobs []*entity.Job) {
	for i := range 4 {
		j := enginetest.Job(fmt.Sprint("job-", i), func(j *entity.Job) { j.Group = fmt.Sprint("group-", i%2) })
		j.ID, j.Version, j.Status, j.CreateTime, j.UpdateTime = identity.RandomID(enginetest.Noon), 1, entity.JobEnabled,
			enginetest.Noon, enginetest.Noon
		j.Partition = entity.PartitionOf(j.ID)
		jobs = append(jobs, j)
	}
	return jobs
}

func (d *desk) write(fn func(ctx context.Context, tx repository.Tx) error) {
	d.Helper()
	require.NoError(d, d.store.Write(d.Context(), repository.LaneAPI, "test", fn))
}

// end stores executions that have ended: with digests where a node of the new release ended them.
func (d *desk) end(newer bool, ended ...*entity.Execution) {
	d.Helper()
	digests, leftOut := statistics.Encode(ended, d.clock.Now())
	require.Zero(d, leftOut)
	d.write(func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, ended); err != nil || !newer {
			return err
		}
		return tx.Statistics.AddDigests(ctx, d.clock.Now(), digests)
	})
}

// random are ends of one transaction: plain ones, ranges, fires that do not run, and shards.
func (d *desk) random(r *rand.Rand, made *int) (ended []*entity.Execution) {
	now := d.clock.Now()
	add := func(job *entity.Job, change func(e *entity.Execution)) {
		*made++
		e := &entity.Execution{
			ID: identity.RandomID(now), JobID: job.ID, FireKey: fmt.Sprint("fire-", *made), Status: entity.StatusSuccess,
			Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Attempt: 1, NodeID: fmt.Sprint("node-", r.IntN(2)),
			DueTime: now.Add(-3 * time.Second), StartTime: now.Add(-time.Second), EndTime: now,
			Duration: time.Duration(r.IntN(5000)) * time.Millisecond, CreateTime: now.Add(-3 * time.Second), UpdateTime: now,
		}
		change(e)
		ended = append(ended, e)
	}
	skipped := func(e *entity.Execution) {
		e.Status, e.NodeID, e.Attempt, e.StartTime, e.CreateTime = entity.StatusSkipped, "", 0, time.Time{}, now
		e.Reason = entity.ReasonMisfire
	}
	for range 1 + r.IntN(5) {
		job := d.jobs[r.IntN(len(d.jobs))]
		switch r.IntN(6) {
		case 0:
			add(job, func(e *entity.Execution) {
				skipped(e)
				e.SkipFrom, e.SkipTo, e.SkipCount = now.Add(-time.Hour), now, 60
			})
		case 1: // one execution for all shards
			add(job, func(e *entity.Execution) { skipped(e); e.ShardTotal = 3 })
		case 2:
			add(job, func(e *entity.Execution) { e.Status, e.RetryCount = entity.StatusDead, 2 })
		default: // many of them are alike
			add(job, func(e *entity.Execution) { e.NodeID, e.Duration = "node-0", time.Second })
		}
	}
	return ended
}

// shards are the ends of all shards of one fire.
func (d *desk) shards(job *entity.Job, key string) (ended []*entity.Execution) {
	for i := range 3 {
		now := d.clock.Now().Add(time.Duration(i) * time.Second)
		ended = append(ended, &entity.Execution{
			ID: identity.RandomID(now), JobID: job.ID, FireKey: key, ShardIndex: i, ShardTotal: 3, Status: entity.StatusSuccess,
			Trigger: entity.TriggerSchedule, JobVersion: 1, Attempt: 1, NodeID: "node-1", DueTime: now, StartTime: now,
			EndTime: now, Duration: time.Second, CreateTime: now, UpdateTime: now,
		})
	}
	return ended
}

// turn lets a leader, and those beside it, do a turn of each task.
func (d *desk) turn(r *rand.Rand) {
	d.clock.Advance(time.Second)
	_, _ = d.folds[r.IntN(2)].RunOnce(d.Context())
	_ = d.searches[r.IntN(2)].RunOnce(d.Context())
}

// settle does turns until every end counts.
func (d *desk) settle(r *rand.Rand) {
	d.Helper()
	for range 500 {
		d.clock.Advance(11 * time.Second)
		d.turn(r)
		state, err := d.store.Statistics.FoldState(d.Context())
		require.NoError(d, err)
		_, _, some, err := d.store.Statistics.DigestsSince(d.Context())
		require.NoError(d, err)
		if state.Whole && !some && len(state.IDs) == 0 {
			return
		}
	}
	require.Fail(d, "ends do not count")
}

// rows are all rows of statistics, as text.
func (d *desk) rows() map[string]string {
	d.Helper()
	always := statistics.Interval{From: enginetest.Noon.AddDate(-1, 0, 0), To: enginetest.Noon.AddDate(1, 0, 0)}
	queries := []repository.SumsQuery{
		{Kind: statistics.KindCluster, Names: []string{""}},
		{Kind: statistics.KindGroup, Names: []string{"group-0", "group-1"}},
		{Kind: statistics.KindNode, Names: []string{"node-0", "node-1"}},
	}
	for _, j := range d.jobs {
		id, _ := identity.Bytes(j.ID)
		queries = append(queries, repository.SumsQuery{Job: id})
	}
	out := map[string]string{}
	for _, q := range queries {
		q.Hours, q.Days = always, always
		rows, err := d.store.Statistics.SumRows(d.Context(), q)
		require.NoError(d, err)
		for _, x := range rows {
			out[fmt.Sprint(x.Period, x.Start, x.Kind, x.Name, identity.Text(x.Job))] = fmt.Sprint(x.Row.Runs, x.Row.Success,
				x.Row.Dead, x.Row.Skipped, x.Row.Retries, x.Row.DurationMs, x.Row.LatenessMs, string(x.Row.AppendHistograms(nil)))
		}
	}
	return out
}

// What nodes of the former release end counts once they are gone, as if each end had a digest: what was there before,
// what comes meanwhile, and what comes when such a node appears again; each end once, whatever becomes of a
// transaction.
func TestEndsOfTheFormerReleaseCountOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r, made := rand.New(rand.NewPCG(randtest.Seed(t), 1)), 0
		jobs := newJobs()
		d, whole := newDesk(t, cfg, jobs), newDesk(t, dbtest.SQLite(t), jobs)
		end := func(newer bool, ended ...*entity.Execution) {
			d.end(newer, ended...)
			whole.end(true, ended...)
		}
		follow := func() { whole.clock.Advance(d.clock.Now().Sub(whole.clock.Now())) }
		both := func(by time.Duration) { d.clock.Advance(by); follow() }
		for range 40 { // history
			both(20 * time.Second)
			end(false, d.random(r, &made)...)
		}
		steps := []string{"missed-insert", "missed-finish", "fold-open", "fold-close", "missed-forget"}
		faults := []enginetest.Fault{enginetest.LostReply, enginetest.LostCommit, enginetest.Refused, enginetest.Deadlock}
		for round := range 3 {
			d.alive = true
			d.turn(r) // what it ends before the leader sees it is not found (docs/statistics.md)
			follow()
			for i := range 60 {
				both(time.Second)
				end(r.IntN(2) == 0, d.random(r, &made)...)
				if i%10 == 0 {
					made++
					shards := d.shards(jobs[r.IntN(4)], fmt.Sprint("sharded-", made))
					for _, shard := range shards[:1+r.IntN(3)] { // the others run still
						end(r.IntN(2) == 0, shard)
					}
				}
				if i%5 == 0 {
					d.faults.Next(steps[r.IntN(len(steps))], faults[r.IntN(len(faults))])
				}
				d.turn(r)
				follow()
			}
			state, err := d.store.Statistics.FoldState(t.Context())
			require.NoError(t, err)
			require.False(t, state.Whole, "round %d", round)
			d.alive = false
			for range 10 { // the new release goes on while the search compares
				both(3 * time.Second)
				end(true, d.random(r, &made)...)
				d.turn(r)
				follow()
			}
			d.settle(r)
			whole.settle(r)
			require.Equal(t, whole.rows(), d.rows(), "round %d", round)
			follow()
			d.turn(r) // notes of this round say nothing about the next one
		}
		for range 5 {
			d.turn(r)
		}
		notes, err := d.store.Statistics.NotesAfter(t.Context(), -1, 1)
		require.NoError(t, err)
		require.Empty(t, notes)
		require.ErrorIs(t, d.searches[0].RunOnce(t.Context()), periodic.ErrIdle)
	})
}

// Two leaders that have compared the same ends store digests of them once.
func TestTwoSearchesAtOnce(t *testing.T) {
	jobs := newJobs()
	d := newDesk(t, dbtest.SQLite(t), jobs)
	made, r := 0, rand.New(rand.NewPCG(1, 1))
	for range 20 {
		d.end(false, d.random(r, &made)...)
	}
	for _, s := range d.searches {
		require.ErrorIs(t, s.RunOnce(t.Context()), periodic.ErrIdle) // nobody knows yet that no old node is there
	}
	d.clock.Advance(time.Minute)
	second := d.searches[1]
	other := sync.OnceFunc(func() { require.NoError(t, second.RunOnce(t.Context())) })
	d.faults.Before(func(name string) {
		if name == "missed-insert" {
			d.faults.Before(nil) // the other one inserts, too
			other()
		}
	})
	require.NoError(t, d.searches[0].RunOnce(t.Context()))
	d.settle(r)
	rows, err := d.store.Statistics.SumRows(t.Context(), repository.SumsQuery{
		Kind: statistics.KindCluster, Names: []string{""},
		Hours: statistics.Interval{From: enginetest.Noon.Add(-time.Hour), To: enginetest.Noon.Add(time.Hour)},
	})
	require.NoError(t, err)
	total := int64(0)
	for _, row := range rows {
		total += row.Row.Runs
	}
	runs := int64(0)
	found, err := d.store.Executions.FinalAfter(t.Context(), repository.EndCursor{}, time.Time{}, 1000)
	require.NoError(t, err)
	for _, e := range found {
		if e.Status != entity.StatusSkipped {
			runs++
		}
	}
	require.Equal(t, runs, total)
}

// between does something between the reads of digests and of notes.
type between struct {
	repository.EndsReader
	do func()
}

func (b between) NotesAfter(ctx context.Context, seq int64, limit int) ([]repository.NotedEnds, error) {
	b.do()
	return b.EndsReader.NotesAfter(ctx, seq, limit)
}

// An end that counts while the search compares is not taken for two: its digest was read, and its note.
func TestABatchClosesWhileEndsAreCompared(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), newJobs())
	alike := d.shards(d.jobs[0], "")[:1]
	alike[0].FireKey, alike[0].ShardTotal = "first", 1
	second := *alike[0]
	second.ID, second.FireKey = identity.RandomID(d.clock.Now()), "second"
	d.end(true, alike...)
	d.end(false, &second)
	d.faults.Next("fold-close", enginetest.Refused)
	_, err := d.folds[0].RunOnce(t.Context())
	require.Error(t, err) // its batch is open
	search := missed.New(missed.Deps{
		Store: d.store, Rows: d.store.Executions, Former: func() (alive, known bool) {
			return false, false
		}, Clock: d.clock, StoreClock: d.clock,
		Logger: slog.New(slog.DiscardHandler),
		Ends: between{d.store.Statistics, sync.OnceFunc(func() {
			d.clock.Advance(time.Minute)
			_, err := d.folds[0].RunOnce(t.Context())
			require.NoError(t, err)
		})},
	})
	d.searches = []*missed.Search{search, search}
	require.NoError(t, search.RunOnce(t.Context()))
	d.settle(rand.New(rand.NewPCG(1, 1)))
	rows, err := d.store.Statistics.SumRows(t.Context(), repository.SumsQuery{
		Kind: statistics.KindCluster, Names: []string{""},
		Hours: statistics.Interval{From: enginetest.Noon, To: enginetest.Noon.Add(time.Hour)},
	})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, int64(2), rows[0].Row.Runs)
}
