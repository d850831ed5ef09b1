package monitoring_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// desk is a store with ends and those who add them up. Their log lines are kept.
type desk struct {
	*testing.T
	store  *persistence.Store
	faults *enginetest.Faults
	clock  *clocktest.Manual
	log    bytes.Buffer
	zone   *time.Location
	// want is what all ends so far come to, and open are the shards that have ended of
	// fires that are not complete.
	want map[repository.SumKey]*statistics.Row
	open map[string][]*entity.Execution
	jobs []*entity.Job
	made int
	// told counts how often those who read events were told.
	told int
}

func newDesk(t *testing.T, cfg persistence.Config) *desk {
	t.Helper()
	d := &desk{
		T: t, clock: clocktest.NewManual(enginetest.Noon), zone: time.UTC,
		want: map[repository.SumKey]*statistics.Row{}, open: map[string][]*entity.Execution{},
	}
	cfg.Clock = d.clock
	d.store = dbtest.Open(t, cfg)
	d.faults = enginetest.NewFaults(d.store)
	for i := range 5 {
		d.addJob(fmt.Sprintf("job-%d", i), fmt.Sprintf("group-%d", i%2))
	}
	return d
}

func (d *desk) addJob(name, group string) *entity.Job {
	j := enginetest.Job(name, func(j *entity.Job) { j.Group = group })
	j.ID, j.Version, j.Status, j.CreateTime, j.UpdateTime = identity.RandomID(enginetest.Noon), 1, entity.JobEnabled,
		enginetest.Noon, enginetest.Noon
	j.Partition = entity.PartitionOf(j.ID)
	d.write(func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Insert(ctx, j) })
	d.jobs = append(d.jobs, j)
	return j
}

func (d *desk) write(fn func(ctx context.Context, tx repository.Tx) error) {
	d.Helper()
	require.NoError(d, d.store.Write(d.Context(), repository.LaneAPI, "test", fn))
}

// fold is a leader over a store.
func (d *desk) fold(store repository.Store) *monitoring.Fold {
	return monitoring.NewFold(monitoring.FoldDeps{
		Store: store, Digests: d.store.Statistics, Clock: d.clock, StoreClock: d.clock, Zone: d.zone,
		Readers: entity.EventReaders{Rules: true}, EventsAdded: func() { d.told++ },
		Logger: slog.New(slog.NewTextHandler(&d.log, nil)),
	})
}

// end is an execution of the k-th job that has ended now.
func (d *desk) end(k int, status entity.Status, change func(e *entity.Execution)) *entity.Execution {
	now := d.clock.Now()
	d.made++
	e := &entity.Execution{
		ID: identity.RandomID(now), JobID: d.jobs[k].ID, FireKey: fmt.Sprint("fire-", d.made), Status: status,
		Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Attempt: 1, NodeID: "node-1",
		DueTime: now.Add(-3 * time.Second), StartTime: now.Add(-time.Second), EndTime: now, Duration: time.Second,
		CreateTime: now.Add(-3 * time.Second),
	}
	if change != nil {
		change(e)
	}
	return e
}

// random are ends of every kind.
func (d *desk) random(r *rand.Rand, n int) (ends []*entity.Execution) {
	statuses := []entity.Status{
		entity.StatusSuccess, entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusDead,
		entity.StatusCancelled, entity.StatusSkipped,
	}
	for range n {
		ends = append(ends, d.end(r.IntN(len(d.jobs)), statuses[r.IntN(len(statuses))], func(e *entity.Execution) {
			e.Duration = time.Duration(r.IntN(5000)) * time.Millisecond
			e.NodeID = fmt.Sprint("node-", r.IntN(3))
			e.RetryCount = r.IntN(3)
			e.EndTime = e.EndTime.Add(-time.Duration(r.IntN(7200)) * time.Second)
			if e.Status == entity.StatusSkipped {
				e.StartTime, e.NodeID, e.SkipCount = time.Time{}, "", r.IntN(3)
			}
		}))
	}
	return ends
}

// store stores ends in digests of one transaction, and notes what they come to.
func (d *desk) add(ends ...*entity.Execution) {
	d.Helper()
	digests, leftOut := statistics.Encode(ends, d.clock.Now())
	require.Zero(d, leftOut)
	d.write(func(ctx context.Context, tx repository.Tx) error {
		return tx.Statistics.AddDigests(ctx, d.clock.Now(), digests)
	})
	for _, digest := range digests {
		decoded, err := statistics.Decode(digest.Data)
		require.NoError(d, err)
		for i := range decoded {
			d.expect(&decoded[i], decoded[i].Shards == 0)
		}
	}
}

// expect notes an end: for its node, and where it is whole for all others.
func (d *desk) expect(e *statistics.End, whole bool) {
	add := func(k repository.SumKey) {
		k.Start = statistics.HourOf(e.At).UnixMilli()
		k.Period = statistics.Hour
		if d.want[k] == nil {
			d.want[k] = &statistics.Row{}
		}
		d.want[k].Add(e)
	}
	if e.Node != "" {
		add(repository.SumKey{Kind: statistics.KindNode, Name: e.Node})
	}
	if !whole {
		return
	}
	add(repository.SumKey{Job: e.Job})
	add(repository.SumKey{Kind: statistics.KindCluster})
	for _, j := range d.jobs {
		if id, _ := identity.Bytes(j.ID); id == e.Job {
			add(repository.SumKey{Kind: statistics.KindGroup, Name: j.Group})
		}
	}
}

// always are all times.
var always = statistics.Interval{From: enginetest.Noon.AddDate(-5, 0, 0), To: enginetest.Noon.AddDate(5, 0, 0)}

// rows are all rows that are stored.
func (d *desk) rows() map[repository.SumKey]*statistics.Row {
	d.Helper()
	got := map[repository.SumKey]*statistics.Row{}
	queries := []repository.SumsQuery{
		{Kind: statistics.KindCluster, Names: []string{""}},
		{Kind: statistics.KindGroup, Names: []string{"", "group-0", "group-1"}},
		{Kind: statistics.KindNode, Names: []string{"node-0", "node-1", "node-2"}},
	}
	for _, j := range d.jobs {
		id, _ := identity.Bytes(j.ID)
		queries = append(queries, repository.SumsQuery{Job: id})
	}
	for _, q := range queries {
		q.Hours, q.Days = always, always
		rows, err := d.store.Statistics.SumRows(d.Context(), q)
		require.NoError(d, err)
		for _, row := range rows {
			got[row.SumKey] = row.Row
		}
	}
	return got
}

// check compares what is stored with what the ends come to.
func (d *desk) check() {
	d.Helper()
	require.Equal(d, describe(d.want), describe(d.rows()))
}

func describe(rows map[repository.SumKey]*statistics.Row) map[string]string {
	out := map[string]string{}
	for k, r := range rows {
		name := fmt.Sprint(k.Period, " ", time.UnixMilli(k.Start).UTC().Format(time.RFC3339), " ", k.Kind, k.Name)
		if k.Kind == "" {
			name += identity.Text(k.Job)
		}
		out[name] = fmt.Sprint(r.Runs, r.Success, r.Failed, r.Timeout, r.Cancelled, r.Dead, r.Skipped, r.Retries,
			r.DurationMs, r.LatenessMs, r.LateRuns, string(r.AppendHistograms(nil)))
	}
	return out
}

// drain adds up all there is, however often a turn fails.
func (d *desk) drain(folds ...*monitoring.Fold) {
	d.Helper()
	for range 500 {
		d.clock.Advance(11 * time.Second)
		for _, f := range folds {
			_, _ = f.RunOnce(d.Context())
		}
		if state := d.state(); len(state.IDs) == 0 {
			if _, _, some, err := d.store.Statistics.DigestsSince(d.Context()); err == nil && !some {
				return
			}
		}
	}
	require.Fail(d, "digests are left", d.log.String())
}

func (d *desk) state() repository.Fold {
	d.Helper()
	state, err := d.store.Statistics.FoldState(d.Context())
	require.NoError(d, err)
	return state
}
