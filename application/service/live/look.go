package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const (
	// digestsAtOnce bounds the digests of one look.
	digestsAtOnce = 200
	// auditAtOnce bounds the entries of the audit log of one look.
	auditAtOnce = 200
	// alertsAtOnce bounds the open alerts that are compared.
	alertsAtOnce = 1000
	// approvalsAtOnce bounds the open approvals that are compared.
	approvalsAtOnce = 1000
)

// looked is what former looks have found. It belongs to the loop.
type looked struct {
	// runs are the states of young executions and of those that are watched.
	runs map[string]repository.ExecutionState
	// passages are how often workflow runs that are watched have changed.
	passages map[string]int64
	digests  map[repository.BinaryID]struct{}
	entries  map[string]struct{}
	alerts   map[string]heldAlert
	// approvals are those that were open, in their order.
	approvals []string
	nodes     map[string]nodeState
	groups    map[string]string
}

// part says what of a job has changed.
type part int

const (
	itself part = 1 << iota
	itsExecutions
)

type heldAlert struct {
	seq   int64
	group string
}

// nodeState is what of a node people steer, without its load.
type nodeState struct {
	status entity.NodeStatus
	epoch  int64
}

func newLooked() *looked {
	return &looked{
		runs: map[string]repository.ExecutionState{}, digests: map[repository.BinaryID]struct{}{},
		entries: map[string]struct{}{}, groups: map[string]string{},
	}
}

// look reads what is new, in at most nine statements.
func (f *Feed) look(ctx context.Context, seen *looked) (*changes, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	c := newChanges()
	since := identity.FloorID(f.Clock.Now().Add(-lookBack))
	jobs := map[string]part{}
	for _, read := range []func() error{
		func() error { return f.executions(ctx, seen, since, jobs, c) },
		func() error { return f.passages(ctx, seen, c) },
		func() error { return f.ends(ctx, seen, since, jobs, c) },
		func() error { return f.calls(ctx, seen, jobs, c) },
		func() error { return f.alerts(ctx, seen, c) },
		func() error { return f.approvals(ctx, seen, c) },
		func() error { return f.ofJobs(ctx, seen, jobs, c) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	f.nodes(seen, c)
	return c, nil
}

// executions compares those whose times are of the last seconds, and those that somebody
// watches, with the last look.
func (f *Feed) executions(ctx context.Context, seen *looked, since string, jobs map[string]part, c *changes) error {
	young, err := f.Changes.ExecutionsAfter(ctx, since, maxChanged+1)
	if err != nil {
		return fmt.Errorf("read young executions: %w", err)
	}
	c.many = c.many || len(young) > maxChanged
	watched, err := f.Changes.ExecutionStates(ctx, f.watched(ExecutionPrefix))
	if err != nil {
		return fmt.Errorf("read the executions that are watched: %w", err)
	}
	now := make(map[string]repository.ExecutionState, len(young)+len(watched))
	for _, e := range append(young, watched...) {
		now[e.ID] = e
		if before, known := seen.runs[e.ID]; known && before == e {
			continue
		}
		c.object(ExecutionPrefix + e.ID)
		jobs[e.JobID] |= itsExecutions
	}
	seen.runs = now
	return nil
}

// passages compares the workflow runs that somebody watches with the last look. The ids of their steps begin with the
// time of the run, so that no look at young executions finds these.
func (f *Feed) passages(ctx context.Context, seen *looked, c *changes) error {
	runs, err := f.Changes.RunSeqs(ctx, f.watched(RunPrefix))
	if err != nil {
		return fmt.Errorf("read the workflow runs that are watched: %w", err)
	}
	now := make(map[string]int64, len(runs))
	for _, run := range runs {
		now[run.ID] = run.Seq
		if before, known := seen.passages[run.ID]; !known || before != run.Seq {
			c.object(RunPrefix + run.ID)
		}
	}
	seen.passages = now
	return nil
}

// watched lists the objects of a kind that somebody watches, each once, at most maxChanged.
func (f *Feed) watched(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := map[string]struct{}{}
	for w := range f.watchers {
		for _, topic := range w.topics {
			if id, is := strings.CutPrefix(topic, prefix); is && len(ids) < maxChanged {
				ids[id] = struct{}{}
			}
		}
	}
	out := make([]string, 0, len(ids))
	for id := range ids {
		out = append(out, id)
	}
	return out
}

// ends finds the jobs of executions that have ended, also of those that ran for long.
func (f *Feed) ends(ctx context.Context, seen *looked, since string, jobs map[string]part, c *changes) error {
	from, _ := identity.Bytes(since) // what FloorID makes is an id
	digests, err := f.Changes.DigestsAfter(ctx, from, digestsAtOnce)
	if err != nil {
		return fmt.Errorf("read the digests of ends: %w", err)
	}
	c.many = c.many || len(digests) == digestsAtOnce
	now := make(map[repository.BinaryID]struct{}, len(digests))
	for _, d := range digests {
		now[d.ID] = struct{}{}
		if _, known := seen.digests[d.ID]; known {
			continue
		}
		ends, err := statistics.Decode(d.Data)
		if err != nil { // of a later release, or broken: who adds it up says so
			c.many = true
			continue
		}
		for _, end := range ends {
			jobs[identity.Text(end.Job)] |= itsExecutions
		}
	}
	seen.digests = now
	return nil
}

// ofJobs tells of jobs whose executions have changed, and of their groups' lists.
func (f *Feed) ofJobs(ctx context.Context, seen *looked, jobs map[string]part, c *changes) error {
	if len(jobs) > maxChanged {
		c.many = true
		return nil
	}
	var missing []repository.BinaryID
	for id := range jobs {
		if _, known := seen.groups[id]; !known {
			if b, ok := identity.Bytes(id); ok {
				missing = append(missing, b)
			}
		}
	}
	if len(missing) > 0 {
		found, err := f.Changes.GroupsOf(ctx, missing)
		if err != nil {
			return fmt.Errorf("read the groups of jobs: %w", err)
		}
		if len(seen.groups) > knownGroups {
			clear(seen.groups)
		}
		for id, group := range found {
			seen.groups[identity.Text(id)] = group // for ever: a job stays in its group
		}
	}
	for id, changed := range jobs {
		group, known := seen.groups[id]
		if !known {
			group = unknown
		}
		c.object(JobPrefix + id)
		if changed&itself != 0 {
			c.list(Jobs, group)
		}
		if changed&itsExecutions != 0 {
			c.list(Executions, group)
		}
	}
	return nil
}

// calls finds what people have changed, on whatever node, and what this node has.
func (f *Feed) calls(ctx context.Context, seen *looked, jobs map[string]part, c *changes) error {
	f.mu.Lock()
	for id, group := range f.recent {
		seen.groups[id] = group
		jobs[id] |= itself
	}
	clear(f.recent)
	f.mu.Unlock()
	entries, _, err := f.Audit.ListAudit(ctx, repository.AuditFilter{From: f.Clock.Now().Add(-lookBack)},
		repository.Page{Limit: auditAtOnce})
	if err != nil {
		return fmt.Errorf("read what people have changed: %w", err)
	}
	c.many = c.many || len(entries) == auditAtOnce
	now, touched := make(map[string]struct{}, len(entries)), touched{}
	for _, e := range entries {
		now[e.ID] = struct{}{}
		if _, known := seen.entries[e.ID]; !known && e.Status < firstRefusal {
			touched = called(e, touched, c)
		}
	}
	seen.entries = now
	runs, err := f.Changes.ExecutionStates(ctx, touched.runs)
	if err != nil {
		return fmt.Errorf("read the executions that people have changed: %w", err)
	}
	for _, run := range runs {
		jobs[run.JobID] |= itsExecutions
	}
	for _, id := range touched.jobs {
		jobs[id] |= itself
	}
	return nil
}

// touched are the objects that people have changed.
type touched struct{ jobs, runs []string }

// firstRefusal is the least status of calls that have changed nothing.
const firstRefusal = 400

// called notes what a call of the API has changed. Of calls on many objects everybody is
// told: that names none of them.
func called(e entity.AuditEntry, t touched, c *changes) touched {
	_, path, _ := strings.Cut(e.Action, " ")
	path, bulk := strings.CutPrefix(strings.TrimPrefix(path, "/api/v1/"), "bulk/")
	kind, _, _ := strings.Cut(path, "/")
	_, single := identity.Bytes(e.Object)
	single = single && !bulk
	switch kind {
	case "jobs", "import":
		if single {
			t.jobs = append(t.jobs, e.Object)
		} else {
			c.list(Jobs, everyone)
		}
	case "groups":
		c.list(Jobs, e.Object)
	case "executions", "dead-letters":
		if single {
			c.object(ExecutionPrefix + e.Object)
			t.runs = append(t.runs, e.Object)
		} else {
			c.list(Executions, everyone)
		}
	case "nodes":
		c.list(Nodes, everyone)
	case "approvals":
		c.list(Approvals, everyone)
	}
	return t
}

// alerts compares the open alerts with those of the last look.
func (f *Feed) alerts(ctx context.Context, seen *looked, c *changes) error {
	held, err := f.Alerts.HeldAlerts(ctx, "", alertsAtOnce)
	if err != nil {
		return fmt.Errorf("read the open alerts: %w", err)
	}
	now := make(map[string]heldAlert, len(held))
	for _, a := range held {
		one := heldAlert{a.Seq, a.Group}
		if now[a.ID] = one; seen.alerts[a.ID] != one {
			c.list(Alerts, groupOf(one))
		}
	}
	for id, before := range seen.alerts {
		if _, open := now[id]; !open {
			c.list(Alerts, groupOf(before))
		}
	}
	seen.alerts = now
	return nil
}

// approvals compares the open approvals with those of the last look. Everybody is told, as a person of any group may
// have a vote; votes are told of as calls.
func (f *Feed) approvals(ctx context.Context, seen *looked, c *changes) error {
	open, err := f.Changes.OpenApprovals(ctx, approvalsAtOnce)
	if err != nil {
		return fmt.Errorf("read the open approvals: %w", err)
	}
	if !slices.Equal(open, seen.approvals) {
		c.list(Approvals, everyone)
	}
	seen.approvals = open
	return nil
}

// groupOf is whose alert it is: one about the cluster is for those who see all groups.
func groupOf(a heldAlert) string {
	if a.group == "" {
		return unknown
	}
	return a.group
}

// nodes compares the nodes as this one sees them, which costs no statement.
func (f *Feed) nodes(seen *looked, c *changes) {
	all := f.Nodes()
	now := make(map[string]nodeState, len(all))
	for _, n := range all {
		now[n.ID] = nodeState{n.Status, n.Epoch}
	}
	changed := len(now) != len(seen.nodes)
	for id, one := range now {
		changed = changed || seen.nodes[id] != one
	}
	if changed {
		c.list(Nodes, everyone)
	}
	seen.nodes = now
}
