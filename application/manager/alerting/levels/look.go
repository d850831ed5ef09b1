// Package levels reads what rules about levels look at.
package levels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Ask says what a look is for: rules of these types, and the jobs of open alerts of type
// NOT_FIRED.
type Ask struct {
	Types map[alert.RuleType]bool
	Jobs  []string
}

// StoreLookerDeps are the parts of a StoreLooker.
type StoreLookerDeps struct {
	Plans  repository.JobPlanReader
	Claims repository.ClaimReader
	Nodes  interface {
		repository.NodeReader
		repository.WorkerCounts
	}
	Troubles repository.NodeTroubles
	Groups   repository.Groups
	Alerts   repository.Alerts
	Ends     repository.DigestReader
	Clock    clock.StoreClock
	// Grace is how late a fire may be.
	Grace time.Duration
}

// StoreLooker reads levels from the store, with bounds: no question costs more where
// there are a million jobs. Safe for concurrent use.
type StoreLooker struct {
	StoreLookerDeps
	// sweep is where the search for jobs without a next time goes on. It is no state of a
	// rule: what it has found is in the alerts, and a leader that begins anew finds it again.
	sweep atomic.Pointer[string]
}

// NewStoreLooker wires the parts.
func NewStoreLooker(d StoreLookerDeps) *StoreLooker { return &StoreLooker{StoreLookerDeps: d} }

const (
	// maxDepth bounds the count of a queue.
	maxDepth = 10_000
	// maxQueueHeads bounds the look-ups of the first key of a queue and priority.
	maxQueueHeads = 200
	// unplannedPage is how many jobs one look examines for a missing next time: a million
	// within 42 minutes.
	unplannedPage = 2000
)

// Look reads what is asked for.
func (l *StoreLooker) Look(ctx context.Context, ask Ask) (*alerting.State, error) {
	st := &alerting.State{Now: l.Clock.Now()}
	for _, part := range []struct {
		what  string
		types []alert.RuleType
		read  func(context.Context, Ask, *alerting.State) error
	}{
		{"overdue jobs", []alert.RuleType{alert.NotFired, alert.NothingRan}, l.overdue},
		{"jobs without a next time", []alert.RuleType{alert.NotFired}, l.unplanned},
		{"the depth of queues", []alert.RuleType{alert.QueueDepth}, l.depth},
		{"the heads of queues", []alert.RuleType{alert.Lateness, alert.NothingRan}, l.heads},
		{"runs without a node", []alert.RuleType{alert.NoNode}, l.unroutable},
		{"nodes", []alert.RuleType{alert.NodeDown, alert.NodeSuspect, alert.ClockSkew}, l.nodes},
		{"workers", []alert.RuleType{alert.WorkersFew}, l.workers},
		{"the troubles of nodes", []alert.RuleType{alert.Degraded}, l.troubles},
		{"the last end", []alert.RuleType{alert.NothingRan}, l.lastEnd},
	} {
		if !slices.ContainsFunc(part.types, func(t alert.RuleType) bool { return ask.Types[t] }) {
			continue
		}
		if err := part.read(ctx, ask, st); err != nil {
			return nil, fmt.Errorf("read %s: %w", part.what, err)
		}
	}
	return st, nil
}

// overdue reads the jobs that are due for longer than the grace: nobody has fired them.
// A job that a paused group holds is not overdue.
func (l *StoreLooker) overdue(ctx context.Context, _ Ask, st *alerting.State) error {
	q := repository.DueQuery{Until: st.Now.Add(-l.Grace), Limit: alerting.MaxOverdue}
	keys, err := l.Plans.DueKeys(ctx, q)
	if err != nil || len(keys) == 0 {
		return err
	}
	groups, err := l.Groups.DivergedGroups(ctx)
	if err != nil {
		return err
	}
	if len(keys) >= q.Limit && len(groups) > 0 { // paused groups may hold all of them, and others wait behind
		q.Without = groups[:min(len(groups), repository.MaxWithout)]
		if keys, err = l.Plans.DueKeys(ctx, q); err != nil {
			return err
		}
	}
	st.OverdueCut = len(keys) >= q.Limit
	byName := make(map[string]entity.Group, len(groups))
	for _, g := range groups {
		byName[g.Name] = g
	}
	ids := convert.All(keys, func(k repository.DueKey) string { return k.ID })
	jobs, err := l.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return err
	}
	for _, k := range keys {
		job, known := jobs[k.ID]
		if !known || job.Deleted || holds(byName, job.Group, job.NextFireTime) ||
			holds(byName, entity.AllJobs, job.NextFireTime) {
			continue
		}
		st.Overdue = append(st.Overdue, alerting.Overdue{
			Job: ruleset.JobOf(job), Due: k.DueTime, LateAfter: time.Duration(job.Alerts.LateAfterSec) * time.Second,
		})
		if st.Expected.IsZero() || k.DueTime.Before(st.Expected) {
			st.Expected = k.DueTime
		}
	}
	return nil
}

// holds reports whether a group keeps a job with that cursor from being planned.
func holds(groups map[string]entity.Group, name string, cursor time.Time) bool {
	g, known := groups[name]
	return known && (g.Paused || !g.ResumedAt.IsZero()) && g.Holds(cursor)
}

// unplanned finds jobs that cannot fire, because they have no next time: those of open
// alerts, and those of the next page of all jobs.
func (l *StoreLooker) unplanned(ctx context.Context, ask Ask, st *alerting.State) error {
	after := ""
	if at := l.sweep.Load(); at != nil {
		after = *at
	}
	ids, next, err := l.Plans.Unplanned(ctx, after, unplannedPage)
	if err != nil {
		return err
	}
	l.sweep.Store(&next)
	still, err := l.Plans.StillUnplanned(ctx, ask.Jobs)
	if err != nil {
		return err
	}
	ids = slices.Concat(still, ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	jobs, err := l.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return err
	}
	st.OverdueCut = st.OverdueCut || len(ids) > alerting.MaxOverdue
	for _, id := range ids[:min(len(ids), alerting.MaxOverdue)] {
		if job, known := jobs[id]; known {
			st.Overdue = append(st.Overdue, alerting.Overdue{Job: ruleset.JobOf(job)})
		}
	}
	return nil
}

func (l *StoreLooker) depth(ctx context.Context, _ Ask, st *alerting.State) error {
	span := entity.ReadySpan()
	n, err := l.Claims.CountRange(ctx, repository.ClaimRange{Lo: span.Lo, Hi: span.Hi, Limit: maxDepth})
	st.Queues = append(st.Queues, alerting.Queue{Name: alerting.Ready, Depth: n, AtLeast: n >= maxDepth})
	return err
}

// heads reads since when the first run of each queue waits. The keys of a queue and
// priority are in the order of their fair times, so that the first of each tells.
func (l *StoreLooker) heads(ctx context.Context, _ Ask, st *alerting.State) error {
	span := entity.QueueSpan()
	at := span.Lo
	known := map[string]int{}
	for range maxQueueHeads {
		first, err := l.Claims.First(ctx, at, span.Hi)
		if err != nil || first == "" {
			return err
		}
		if fair, ok := first.FairTime(); ok {
			if st.Expected.IsZero() || fair.Before(st.Expected) {
				st.Expected = fair
			}
			if title := first.Queue().Title(); entity.ReadySpan().Of(first) {
				i, again := known[title]
				if !again {
					i, known[title] = len(st.Queues), len(st.Queues)
					st.Queues = append(st.Queues, alerting.Queue{Name: title, Oldest: fair})
				}
				if fair.Before(st.Queues[i].Oldest) {
					st.Queues[i].Oldest = fair
				}
			}
		}
		if at = first.BehindPriority(); at == "" {
			break
		}
	}
	return nil
}

// unroutable reads the first runs that no node can take, by job.
func (l *StoreLooker) unroutable(ctx context.Context, _ Ask, st *alerting.State) error {
	span := entity.UnroutableSpan()
	rows, err := l.Claims.Range(ctx, repository.ClaimRange{Lo: span.Lo, Hi: span.Hi, Limit: alerting.MaxUnroutable})
	if err != nil || len(rows) == 0 {
		return err
	}
	st.UnroutableCut = len(rows) >= alerting.MaxUnroutable
	jobs, err := l.Alerts.AlertJobs(ctx, entity.JobIDsOf(rows))
	if err != nil {
		return err
	}
	known := map[string]int{}
	for _, row := range rows {
		since, ok := row.Claim.FairTime()
		if !ok {
			since = row.DueTime
		}
		i, again := known[row.JobID]
		if !again {
			job, exists := jobs[row.JobID]
			if !exists {
				continue
			}
			i, known[row.JobID] = len(st.Unroutable), len(st.Unroutable)
			st.Unroutable = append(st.Unroutable, alerting.Unroutable{
				Job: ruleset.JobOf(job), Wait: row.Claim.WaitsFor(), Oldest: since,
			})
		}
		u := &st.Unroutable[i]
		u.Runs++
		if since.Before(u.Oldest) {
			u.Oldest = since
		}
	}
	return nil
}

func (l *StoreLooker) nodes(ctx context.Context, _ Ask, st *alerting.State) (err error) {
	st.Nodes, err = l.Nodes.All(ctx)
	return err
}

func (l *StoreLooker) workers(ctx context.Context, _ Ask, st *alerting.State) error {
	counts, err := l.Nodes.CountWorkers(ctx)
	st.WorkerGroups = convert.All(counts, func(c repository.WorkerCount) alerting.WorkerGroup {
		return alerting.WorkerGroup{Name: c.Group, JobGroups: c.JobGroups, Up: c.Up}
	})
	return err
}

// troubles turns the troubles of nodes into those of parts.
func (l *StoreLooker) troubles(ctx context.Context, _ Ask, st *alerting.State) error {
	byNode, err := l.Troubles.Troubles(ctx)
	if err != nil {
		return err
	}
	byPart := map[string]*alerting.Trouble{}
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		for part, why := range byNode[node] {
			t := byPart[part]
			if t == nil {
				t = &alerting.Trouble{Part: part, Why: why}
				byPart[part] = t
			}
			t.Nodes = append(t.Nodes, node)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(byPart)) {
		st.Troubles = append(st.Troubles, *byPart[part])
	}
	return nil
}

// lastEnd reads when an execution ended last, and whether one runs.
func (l *StoreLooker) lastEnd(ctx context.Context, _ Ask, st *alerting.State) error {
	fold, err := l.Ends.FoldState(ctx)
	if err != nil {
		return err
	}
	st.LastEnd = fold.Until
	_, youngest, waits, err := l.Ends.DigestsSince(ctx)
	if err != nil {
		return err
	}
	if waits && youngest.After(st.LastEnd) {
		st.LastEnd = youngest
	}
	for _, span := range entity.RunningSpans() {
		first, err := l.Claims.First(ctx, span.Lo, span.Hi)
		if err != nil {
			return err
		}
		st.Running = st.Running || first != ""
	}
	return nil
}
