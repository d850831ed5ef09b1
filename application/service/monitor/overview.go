package monitor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// overviewRows bounds the rows of each kind that one overview reads. boundRows is the
	// bound for callers with groups, where each row needs a look at its job.
	overviewRows = 100_000
	boundRows    = 20_000
	// jobCountLife is how long a count of jobs is shown again: it reads all.
	jobCountLife = 5 * time.Second
	// jobCounts bounds the counts that are kept, one for each set of groups.
	jobCounts = 64
	// silentAfter is when a node that is UP is missed; it should have been
	// heard of five times by then.
	silentAfter = 15 * time.Second
)

// Overview is the state of everything at a glance.
type Overview struct {
	Time time.Time
	Jobs map[entity.JobStatus]int
	// Waiting and Running are runs that have not ended, LastHour those whose
	// fire or creation is not older than that.
	Waiting, Running Count
	LastHour         map[entity.Status]int
	// LastHourAtLeast marks counts that hit their bound.
	LastHourAtLeast bool
	// DeadLetters are those that wait for a person.
	DeadLetters Count
	Nodes       map[entity.NodeStatus]int
	Workers     Workers
	// Leader is the node that does the tasks of the leader; empty for none.
	Leader string
	// Degraded is what does not work as it should, on the node that answers and
	// in the registry.
	Degraded []Trouble
	Lateness Lateness
}

// Workers are those of the worker groups that serve the caller's groups.
type Workers struct {
	Groups, Up, Draining, Down int
	// Waiting are runs that wait for a worker, or for a node or a worker that has their handler.
	Waiting Count
}

// Count is a number of rows; AtLeast marks one that hit its bound.
type Count struct {
	N       int
	AtLeast bool
}

// Lateness is how late runs start on this node.
type Lateness struct {
	P50, P99 time.Duration
	// Known is false when none has started yet.
	Known bool
}

// OverviewDeps are the parts of an OverviewService.
type OverviewDeps struct {
	Counts interface {
		repository.Counts
		repository.WorkerCounts
	}
	Nodes interface {
		All(ctx context.Context) ([]entity.Node, error)
	}
	// Leader is the node that does the tasks of the leader; empty for none.
	Leader  func(ctx context.Context) (string, error)
	Monitor *MonitorService
	// Lateness measures this node.
	Lateness interface {
		Lateness() (p50, p99 time.Duration, known bool)
	}
	Clock   clock.StoreClock
	Machine clock.Clock
}

// OverviewService tells the state of everything. Safe for concurrent use.
type OverviewService struct {
	OverviewDeps
	// turn is held by the one who counts jobs, and guards what was counted.
	turn chan struct{}
	jobs map[string]jobCount
}

type jobCount struct {
	at     time.Duration
	counts map[entity.JobStatus]int
}

// NewOverviewService wires the parts.
func NewOverviewService(d OverviewDeps) *OverviewService {
	return &OverviewService{OverviewDeps: d, turn: make(chan struct{}, 1), jobs: map[string]jobCount{}}
}

// Overview counts what is in the groups, which are nil for all; nodes and what
// is measured on this one belong to no group. Its cost is bounded.
func (s *OverviewService) Overview(ctx context.Context, groups []string) (o Overview, err error) {
	limit := overviewRows
	if groups != nil {
		limit = boundRows
	}
	o = Overview{Time: s.Clock.Now(), Degraded: s.Monitor.Degraded(ctx)}
	o.Lateness.P50, o.Lateness.P99, o.Lateness.Known = s.Lateness.Lateness()
	if o.Jobs, err = s.countJobs(ctx, groups); err != nil {
		return o, err
	}
	if o.LastHour, o.LastHourAtLeast, err = s.Counts.CountRuns(ctx, o.Time.Add(-time.Hour), groups, limit); err != nil {
		return o, err
	}
	if err = s.live(ctx, groups, limit, &o); err != nil {
		return o, err
	}
	if err = s.countWorkers(ctx, groups, &o.Workers); err != nil {
		return o, err
	}
	if o.DeadLetters.N, o.DeadLetters.AtLeast, err = s.Counts.CountLetters(ctx, groups, limit); err != nil {
		return o, err
	}
	if o.Leader, err = s.Leader(ctx); err != nil {
		return o, err
	}
	// The registry tells of every node and its clock, of this one's too.
	o.Degraded = slices.DeleteFunc(o.Degraded, func(t Trouble) bool { return t.Part == PartClock || t.Part == PartNode })
	nodes, err := s.Nodes.All(ctx)
	o.Nodes = map[entity.NodeStatus]int{}
	for _, n := range nodes {
		o.Nodes[n.Status]++
		o.Degraded = append(o.Degraded, troubleOf(n, o.Time)...)
	}
	return o, err
}

// troubleOf is what the registry tells of a node; one that left in order is no
// trouble.
func troubleOf(n entity.Node, now time.Time) (found []Trouble) {
	silent := now.Sub(n.LastHeartbeat)
	switch {
	case n.Died(now):
		found = append(found, Trouble{
			Part: PartNode, Reason: fmt.Sprintf("the node %s is down", n.ID),
			Since: n.LastHeartbeat,
		})
	case n.Status == entity.NodeSuspect || n.Status == entity.NodeUp && silent > silentAfter:
		found = append(found, Trouble{
			Part: PartNode, Reason: fmt.Sprintf("the node %s has not beaten for %s", n.ID, silent.Round(time.Second)),
			Since: n.LastHeartbeat,
		})
	}
	if n.Status != entity.NodeDown && entity.Skewed(n.ClockOffset) {
		found = append(found, Trouble{Part: PartClock, Reason: SkewReason(n.ID, n.ClockOffset), Since: n.LastHeartbeat})
	}
	return found
}

// SkewReason says for people how far the clock of a node is off.
func SkewReason(node string, offset time.Duration) string {
	side := "behind"
	if offset < 0 {
		side = "ahead of"
	}
	return fmt.Sprintf("the clock of the node %s is %s %s the database's", node, offset.Abs().Round(100*time.Millisecond),
		side)
}

// live counts the runs that wait, for whatever and for a worker, and those that run.
func (s *OverviewService) live(ctx context.Context, groups []string, limit int, o *Overview) error {
	waiting, running := entity.WaitingSpans(), entity.RunningSpans()
	unplaced := append(entity.WaitWorker.Spans(), entity.WaitHandler.Spans()...)
	counts, err := s.Counts.CountClaims(ctx, slices.Concat(waiting, running, unplaced), groups, limit)
	if err != nil {
		return err
	}
	runs, rest := len(waiting), len(waiting)+len(running)
	o.Waiting, o.Running, o.Workers.Waiting = total(counts[:runs]), total(counts[runs:rest]), total(counts[rest:])
	return nil
}

// countWorkers adds up the workers that may run jobs of the groups.
func (s *OverviewService) countWorkers(ctx context.Context, groups []string, w *Workers) error {
	counts, err := s.Counts.CountWorkers(ctx)
	for _, c := range counts {
		if groups != nil && !slices.ContainsFunc(c.JobGroups, func(g string) bool { return slices.Contains(groups, g) }) {
			continue
		}
		w.Groups++
		w.Up, w.Draining, w.Down = w.Up+c.Up, w.Draining+c.Draining, w.Down+c.Down
	}
	return err
}

func total(counts []repository.SpanCount) (c Count) {
	for _, one := range counts {
		c.N, c.AtLeast = c.N+one.N, c.AtLeast || one.Cut
	}
	return c
}

// countJobs counts, or shows what was counted a moment ago.
func (s *OverviewService) countJobs(ctx context.Context, groups []string) (map[entity.JobStatus]int, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	key := "all"
	if groups != nil {
		key = "\x00" + strings.Join(groups, "\x00")
	}
	now := s.Machine.Monotonic()
	if known, ok := s.jobs[key]; ok && now-known.at < jobCountLife {
		return known.counts, nil
	}
	counts, err := s.Counts.CountJobs(ctx, groups)
	if err != nil {
		return nil, err
	}
	if len(s.jobs) >= jobCounts {
		clear(s.jobs)
	}
	s.jobs[key] = jobCount{s.Machine.Monotonic(), counts}
	return counts, nil
}
