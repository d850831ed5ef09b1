package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// healthy is a node whose loops tick, but those that are named.
type healthy []periodic.Status

func (h healthy) Statuses() []periodic.Status { return h }

// punctual is what a node measured.
type punctual struct{}

func (punctual) Lateness() (p50, p99 time.Duration, known bool) {
	return 2 * time.Millisecond, 30 * time.Millisecond, true
}

// counts are what an overview counts.
type counts interface {
	repository.Counts
	repository.WorkerCounts
}

// watching is the overview over the store of a desk.
func (d *desk) watching(tallies counts, loops ...periodic.Status) *monitor.OverviewService {
	return monitor.NewOverviewService(monitor.OverviewDeps{
		Counts: tallies, Nodes: d.Store, Leader: func(context.Context) (string, error) {
			return d.ID(), nil
		}, Monitor: monitor.NewMonitorService(d.Store, healthy(loops), d.Clock), Lateness: punctual{},
		Clock: d.Time, Machine: d.Clock,
	})
}

// ran stores a run of a job and returns its id.
func (d *desk) ran(jobID string, at time.Time, status entity.Status, claim entity.ClaimKey) string {
	d.T.Helper()
	run := &entity.Execution{
		JobID: jobID, FireKey: identity.FireKey(at), ScheduledTime: at, DueTime: at, Trigger: entity.TriggerSchedule,
		ShardTotal: 1, JobVersion: 1,
		Priority: 5, Status: status, Claim: claim, CreateTime: at, UpdateTime: at,
	}
	run.ID = identity.ExecutionID(at, jobID, run.FireKey, 0)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{run})
	})
	return run.ID
}

func TestTheOverview(t *testing.T) {
	eachStore(t, func(d *desk) {
		ctx := d.T.Context()
		in := func(group string) func(j *entity.Job) {
			return waiting(func(j *entity.Job) { j.Group = group })
		}
		mine, other := d.Create(enginetest.Job("mine", in("a"))), d.Create(enginetest.Job("other", in("b")))
		paused := d.Create(enginetest.Job("paused", in("a")))
		_, err := d.Jobs.Pause(ctx, paused.ID, entity.Pause{})
		require.NoError(d.T, err)
		_, err = d.Jobs.Create(ctx, enginetest.Job("created", in("b")), false)
		require.NoError(d.T, err)

		d.Clock.Advance(2 * time.Hour)
		d.ran(mine.ID, noon(0), entity.StatusFailed, "") // no longer of the last hour
		for n, key := range []entity.ClaimKey{
			entity.CommonQueue.Key(5, noon(0)), entity.ScheduledKey(noon(0)),
			entity.QueuedKey(mine.ID, 1),
		} {
			d.ran(mine.ID, noon(90*time.Minute+time.Duration(n)*time.Second), entity.StatusWaiting, key)
		}
		d.ran(mine.ID, noon(100*time.Minute), entity.StatusSuccess, "")
		d.ran(mine.ID, noon(101*time.Minute), entity.StatusDead, "")
		d.ran(other.ID, noon(102*time.Minute), entity.StatusTimeout, "")
		started := d.ran(other.ID, noon(103*time.Minute), entity.StatusRunning, entity.RunningKey("node-1"))
		d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.AddDeadLetters(ctx,
				[]entity.DeadLetter{{ExecutionID: started, JobID: other.ID, CreateTime: noon(0)}})
		})

		s := d.watching(d.Store, periodic.Status{Name: "scan", Age: time.Minute, Limit: time.Second},
			periodic.Status{Name: "fine", Limit: 1})
		o, err := s.Overview(ctx, nil)
		require.NoError(d.T, err)
		require.Equal(d.T, map[entity.JobStatus]int{entity.JobEnabled: 2, entity.JobPaused: 1, entity.JobCreated: 1}, o.Jobs)
		require.Equal(d.T, []monitor.Count{{N: 3}, {N: 1}, {N: 1}}, []monitor.Count{o.Waiting, o.Running, o.DeadLetters})
		require.Equal(d.T, map[entity.Status]int{
			entity.StatusWaiting: 3, entity.StatusRunning: 1, entity.StatusSuccess: 1, entity.StatusDead: 1,
			entity.StatusTimeout: 1,
		}, o.LastHour)
		require.False(d.T, o.LastHourAtLeast)
		require.Equal(d.T, "scan has not ticked for 1m0s", o.Degraded[0].Reason)
		require.Equal(d.T, monitor.Lateness{P50: 2 * time.Millisecond, P99: 30 * time.Millisecond, Known: true}, o.Lateness)
		require.Equal(d.T, []any{d.Time.Now(), d.ID()}, []any{o.Time, o.Leader})

		o, err = s.Overview(ctx, []string{"a"})
		require.NoError(d.T, err)
		require.Equal(d.T, map[entity.JobStatus]int{entity.JobEnabled: 1, entity.JobPaused: 1}, o.Jobs)
		require.Equal(d.T, []monitor.Count{{N: 3}, {}, {}}, []monitor.Count{o.Waiting, o.Running, o.DeadLetters})
		require.Equal(d.T, []int{1, 1, 0}, []int{
			o.LastHour[entity.StatusSuccess], o.LastHour[entity.StatusDead],
			o.LastHour[entity.StatusTimeout],
		})
		o, err = s.Overview(ctx, []string{})
		require.NoError(d.T, err)
		require.Empty(d.T, o.Jobs)
		require.Zero(d.T, o.Waiting.N+o.Running.N+o.DeadLetters.N+o.LastHour[entity.StatusSuccess])
	})
}

func TestTheOverviewMissesNodes(t *testing.T) {
	d := newDesk(t)
	for _, id := range []string{"node-a", "node-b"} {
		_, err := d.Store.Register(t.Context(), entity.Node{
			ID: id, Status: entity.NodeUp, LastHeartbeat: d.Time.Now(),
			CreateTime: noon(0), UpdateTime: noon(0),
		})
		require.NoError(t, err)
	}
	require.NoError(t, d.Store.Leave(t.Context(), "node-b", 1))
	require.NoError(t, d.Store.Leave(t.Context(), d.ID(), 1))
	overview := func() monitor.Overview {
		o, err := d.watching(d.Store).Overview(t.Context(), []string{})
		require.NoError(t, err)
		return o
	}
	o := overview()
	require.Equal(t, map[entity.NodeStatus]int{entity.NodeUp: 1, entity.NodeDown: 2}, o.Nodes)
	require.Empty(t, o.Degraded, "a node that left is not missed")
	d.Clock.Advance(20 * time.Second)
	require.Equal(t, "the node node-a has not beaten for 20s", overview().Degraded[0].Reason)
	nodes, err := d.Store.All(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if n.ID == "node-a" {
			_, err = d.Store.Mark(t.Context(), n, entity.NodeDown, entity.DownLease)
			require.NoError(t, err)
		}
	}
	require.Equal(t, "the node node-a is down", overview().Degraded[0].Reason, "one that died is")
	d.Clock.Advance(24 * time.Hour)
	require.Empty(t, overview().Degraded, "for a day")
}

func TestTheOverviewTellsOfClocksThatAreOff(t *testing.T) {
	d := newDesk(t)
	for id, offset := range map[string]time.Duration{
		"node-a": 2500 * time.Millisecond, "node-b": -time.Hour, "node-c": time.Second, "node-d": time.Hour,
	} {
		_, err := d.Store.Register(t.Context(), entity.Node{
			ID: id, ClockOffset: offset, LastHeartbeat: d.Time.Now(),
			CreateTime: noon(0), UpdateTime: noon(0),
		})
		require.NoError(t, err)
	}
	require.NoError(t, d.Store.Leave(t.Context(), "node-d", 1))
	o, err := d.watching(d.Store).Overview(t.Context(), []string{})
	require.NoError(t, err)
	reasons := make([]string, len(o.Degraded))
	for i, trouble := range o.Degraded {
		require.Equal(t, monitor.PartClock, trouble.Part)
		reasons[i] = trouble.Reason
	}
	require.Equal(t, []string{
		"the clock of the node node-a is 2.5s behind the database's",
		"the clock of the node node-b is 1h0m0s ahead of the database's",
	}, reasons)
}

// tallying counts the counts.
type tallying struct {
	repository.Counts
	jobs int
	cut  bool
	err  error
}

func (c *tallying) CountJobs(context.Context, []string) (map[entity.JobStatus]int, error) {
	c.jobs++
	return map[entity.JobStatus]int{entity.JobEnabled: c.jobs}, c.err
}

func (c *tallying) CountRuns(context.Context, time.Time, []string, int) (map[entity.Status]int, bool, error) {
	return nil, c.cut, nil
}

func (c *tallying) CountClaims(_ context.Context, spans []entity.ClaimSpan, _ []string,
	limit int,
) (counts []repository.SpanCount, err error) {
	for _, span := range spans {
		counts = append(counts, repository.SpanCount{N: limit, Cut: c.cut && span == entity.WaitingSpans()[0]})
	}
	return counts, nil
}

func (c *tallying) CountLetters(_ context.Context, _ []string, limit int) (int, bool, error) {
	return limit, c.cut, nil
}

func (c *tallying) CountWorkers(context.Context) ([]repository.WorkerCount, error) { return nil, nil }

func TestJobsAreCountedEveryFiveSeconds(t *testing.T) {
	d := newDesk(t)
	tallies := &tallying{}
	s := d.watching(tallies)
	jobs := func(groups ...string) int {
		o, err := s.Overview(t.Context(), groups)
		require.NoError(t, err)
		return o.Jobs[entity.JobEnabled]
	}
	require.Equal(t, []int{1, 1, 2, 3, 1}, []int{jobs(), jobs(), jobs("a"), jobs("a", "b"), jobs()},
		"one count for each set of groups")
	d.Clock.Advance(5 * time.Second)
	require.Equal(t, []int{4, 4}, []int{jobs(), jobs()})
	for n := range 200 {
		jobs(fmt.Sprint(n))
	}
	require.Equal(t, 205, jobs(), "not every count is kept")

	d.Clock.Advance(5 * time.Second)
	tallies.err = errors.New("odd")
	_, err := s.Overview(t.Context(), nil)
	require.ErrorIs(t, err, tallies.err)
	tallies.err = nil
	require.Equal(t, 207, jobs(), "a failure is not kept")
}

func TestCountsThatHitTheirBoundSaySo(t *testing.T) {
	d := newDesk(t)
	o, err := d.watching(&tallying{cut: true}).Overview(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, []monitor.Count{{N: 300_000, AtLeast: true}, {N: 200_000}, {N: 100_000, AtLeast: true}},
		[]monitor.Count{o.Waiting, o.Running, o.DeadLetters})
	require.True(t, o.LastHourAtLeast)
	o, err = d.watching(&tallying{cut: true}).Overview(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, monitor.Count{N: 60_000, AtLeast: true}, o.Waiting, "groups are dearer")
}
