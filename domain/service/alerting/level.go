package alerting

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Overdue is a job whose next fire is late, or that has none.
type Overdue struct {
	Job
	// Due is when it should have fired; zero: nobody will, because it has no next time.
	Due time.Time
	// LateAfter is how late the job says that it may be; 0 is the cluster's grace.
	LateAfter time.Duration
}

// Queue is what waits for the same nodes.
type Queue struct {
	// Name is "ready" for all queues together, else the title of one.
	Name string
	// Depth is how many wait; it is counted for all queues together alone.
	Depth int
	// AtLeast: the count has reached its bound.
	AtLeast bool
	// Oldest is since when the first of them waits; zero where nothing does.
	Oldest time.Time
}

// Unroutable is a job with runs that no live node can run.
type Unroutable struct {
	Job
	Runs int
	// Wait is what the nodes, or the workers, lack: WaitNode, WaitCommand, WaitHandler or WaitWorker.
	Wait entity.Wait
	// Oldest is since when the first of them waits.
	Oldest time.Time
}

// Trouble is a part that works less well than it should, on these nodes.
type Trouble struct {
	Part  string
	Why   string
	Nodes []string
}

// WorkerGroup is a worker group with how many of its workers are UP.
type WorkerGroup struct {
	Name string
	// JobGroups are those whose jobs may name it.
	JobGroups []string
	Up        int
}

// SuspendedRule is a rule that does nothing for some time, although it is enabled.
type SuspendedRule struct {
	Rule *alert.Rule
	alert.Suspension
}

// State is what level rules look at: a bounded extract of the store, as of Now by its
// clock.
type State struct {
	Now time.Time
	// Overdue are jobs that should have fired by now, at most MaxOverdue. OverdueCut: there
	// may be more.
	Overdue    []Overdue
	OverdueCut bool
	Queues     []Queue
	// Unroutable are jobs of at most MaxUnroutable runs. UnroutableCut: there may be more.
	Unroutable    []Unroutable
	UnroutableCut bool
	Nodes         []entity.Node
	WorkerGroups  []WorkerGroup
	// Troubles are of all nodes, by part.
	Troubles []Trouble
	// Suspended are rules that cost too much.
	Suspended []SuspendedRule
	// LastEnd is when an execution ended last; zero where nobody knows. Running: something
	// runs. Expected is since when the first fire waits that should have run; zero: none does.
	LastEnd  time.Time
	Running  bool
	Expected time.Time
}

const (
	// MaxOverdue is how many jobs NOT_FIRED tells one by one. More than these are one alert.
	MaxOverdue = 1000
	// MaxUnroutable is how many runs NO_NODE looks at.
	MaxUnroutable = 500
	// Ready is the name of all queues together.
	Ready = "ready"
	// leastGrace is how late a fire may be before anybody is told.
	leastGrace = 30 * time.Second
)

// Grace is how late a fire may be, by the interval of scans and the lease of nodes.
func Grace(scan, lease time.Duration) time.Duration { return max(leastGrace, 3*scan, 2*lease) }

// Levels asks a rule about levels for what is above its line.
func Levels(r *alert.Rule, st *State) []Signal {
	if !r.Enabled || !r.Type.IsLevel() {
		return nil
	}
	look := look{r, st}
	switch r.Type {
	case alert.NotFired:
		return look.notFired()
	case alert.Lateness:
		return look.lateness()
	case alert.QueueDepth:
		return look.depth()
	case alert.NoNode:
		return look.noNode()
	case alert.NodeDown:
		return look.nodes(func(n entity.Node) (string, bool) {
			return fmt.Sprintf("The node %s is DOWN.", n.ID), n.Status == entity.NodeDown && n.DownCause != entity.DownLeft
		})
	case alert.NodeSuspect:
		return look.nodes(func(n entity.Node) (string, bool) {
			return fmt.Sprintf("The node %s is SUSPECT: its beats are late.", n.ID), n.Status == entity.NodeSuspect
		})
	case alert.ClockSkew:
		return look.clocks()
	case alert.Degraded:
		return look.degraded()
	case alert.NothingRan:
		return look.nothingRan()
	case alert.WorkersFew:
		return look.workersFew()
	case alert.Watchdog:
		return []Signal{look.signal("watchdog", "This alert always fires: while it arrives, alerting works.", nil)}
	}
	return nil
}

// look is one question to the state.
type look struct {
	r  *alert.Rule
	st *State
}

func (l look) signal(subject, content string, details map[string]string) Signal {
	return Signal{
		Rule: l.r, Subject: subject, Evidence: l.st.Now.UTC().Format(time.RFC3339Nano), At: l.st.Now, Content: content,
		Details: details,
	}
}

// notFired makes one alert of very many jobs. A rule of a group sees its jobs alone, so
// that only a rule for all can know that there are too many.
func (l look) notFired() (out []Signal) {
	if len(l.st.Overdue) >= MaxOverdue && l.r.Group == "" && l.r.Scope.All() {
		return []Signal{l.signal("many", fmt.Sprintf("%d jobs or more did not fire when they should have.", MaxOverdue),
			map[string]string{"jobs": strconv.Itoa(len(l.st.Overdue))})}
	}
	for _, o := range l.st.Overdue {
		late := l.st.Now.Sub(o.Due)
		if !l.r.Sees(o.ID, o.Group, o.Labels) || late < max(o.LateAfter, lasting(l.r.Threshold)) {
			continue
		}
		details := map[string]string{}
		content := fmt.Sprintf("The job %s is ENABLED and has no next time, so that it will not fire. Edit or resume it.",
			o.Name)
		if !o.Due.IsZero() {
			details["due"], details["lateSec"] = o.Due.UTC().Format(time.RFC3339), seconds(late)
			content = fmt.Sprintf("The job %s did not fire at %s.", o.Name, details["due"])
		}
		out = append(out, l.about(o.Job, content, details))
	}
	return out
}

// Unseen reports that a look which did not meet an alert of a job does not say that the job
// is well: it has seen as many jobs or runs as it may, and tells of them with one alert.
// Next is the next fire of the job: one to come is not overdue.
func Unseen(a *alert.Alert, st *State, next time.Time) bool {
	if a.JobID == "" {
		return false
	}
	switch a.Type {
	case alert.NotFired:
		return (st.OverdueCut || len(st.Overdue) >= MaxOverdue) && !next.After(st.Now)
	case alert.NoNode:
		return st.UnroutableCut
	}
	return false
}

// lasting is a number of seconds as a duration.
func lasting(sec float64) time.Duration { return time.Duration(sec * float64(time.Second)) }

// about is a signal about a job.
func (l look) about(job Job, content string, details map[string]string) Signal {
	s := l.signal(job.RunsAs(), content, job.details(details))
	s.JobID, s.Group, s.Labels = job.ID, job.Group, jobLabels(job)
	return s
}

// lateness tells of each queue whose first run waits for too long.
func (l look) lateness() (out []Signal) {
	for _, q := range l.st.Queues {
		if q.Oldest.IsZero() {
			continue
		}
		if wait := l.st.Now.Sub(q.Oldest); wait.Seconds() >= l.r.Threshold {
			out = append(out, l.signal(q.Name, fmt.Sprintf("The oldest run of the queue %s has waited for %s.", q.Name,
				wait.Round(time.Second)), map[string]string{"queue": q.Name, "waitSec": seconds(wait)}))
		}
	}
	return out
}

func (l look) depth() (out []Signal) {
	for _, q := range l.st.Queues {
		if q.Name != Ready || float64(q.Depth) < l.r.Threshold {
			continue
		}
		depth := strconv.Itoa(q.Depth)
		if q.AtLeast {
			depth = "at least " + depth
		}
		out = append(out, l.signal(q.Name, depth+" runs wait for a free slot.", map[string]string{"depth": depth}))
	}
	return out
}

// noNode tells of each job with runs that no node can take. Very many are one alert of a
// rule for all.
func (l look) noNode() (out []Signal) {
	runs := 0
	for _, u := range l.st.Unroutable {
		runs += u.Runs
	}
	if runs >= MaxUnroutable && l.r.Group == "" && l.r.Scope.All() {
		return []Signal{l.signal("many", fmt.Sprintf("%d runs or more wait, because no live node can run them.", runs),
			map[string]string{"runs": strconv.Itoa(runs)})}
	}
	lacks := map[entity.Wait]string{
		entity.WaitCommand: "runs commands", entity.WaitHandler: "has its handler", entity.WaitNode: "has its labels",
		entity.WaitWorker: "is a worker that can run it",
	}
	for _, u := range l.st.Unroutable {
		if u.SeenBy(l.r) {
			out = append(out, l.about(u.Job, fmt.Sprintf("%d runs of the %s wait: no live node %s.", u.Runs, u.title(),
				lacks[u.Wait]), map[string]string{
				"runs": strconv.Itoa(u.Runs), "waitsFor": string(u.Wait),
				"waitSec": seconds(l.st.Now.Sub(u.Oldest)),
			}))
		}
	}
	return out
}

func (l look) nodes(above func(entity.Node) (sentence string, yes bool)) (out []Signal) {
	for _, n := range l.st.Nodes {
		if sentence, yes := above(n); yes {
			s := l.signal(n.ID, sentence, map[string]string{"node": n.ID})
			s.NodeID, s.Labels = n.ID, n.Labels
			out = append(out, s)
		}
	}
	return out
}

// clocks are the nodes whose clocks are off, and by how much.
func (l look) clocks() []Signal {
	line := entity.MaxClockOffset
	if l.r.Threshold > 0 {
		line = time.Duration(l.r.Threshold * float64(time.Second))
	}
	offset := map[string]time.Duration{}
	out := l.nodes(func(n entity.Node) (string, bool) {
		offset[n.ID] = n.ClockOffset
		return fmt.Sprintf("The clock of the node %s is off by %s.", n.ID, n.ClockOffset),
			n.Status != entity.NodeDown && n.ClockOffset.Abs() > line
	})
	for _, s := range out {
		s.Details["offsetMs"] = strconv.FormatInt(offset[s.NodeID].Milliseconds(), 10)
	}
	return out
}

// workersFew tells of each worker group that has fewer workers than it should, and serves a group that the rule sees.
func (l look) workersFew() (out []Signal) {
	for _, g := range l.st.WorkerGroups {
		if float64(g.Up) >= l.r.Threshold || !l.r.SeesAnyOf(g.JobGroups) {
			continue
		}
		up, least := strconv.Itoa(g.Up), strconv.Itoa(int(l.r.Threshold))
		s := l.signal(g.Name, fmt.Sprintf("The worker group %s has %s workers that are UP; it should have %s or more.",
			g.Name, up, least), map[string]string{"workers": g.Name, "up": up, "least": least})
		s.Group, s.Labels = l.r.Group, map[string]string{"workers": g.Name}
		out = append(out, s)
	}
	return out
}

// degraded makes one alert of a part, however many nodes see it, and one of each rule that is
// suspended. That one belongs to the group of the rule.
func (l look) degraded() (out []Signal) {
	for _, t := range l.st.Troubles {
		where := strings.Join(t.Nodes[:min(len(t.Nodes), 5)], ", ")
		if more := len(t.Nodes) - 5; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		s := l.signal(t.Part, fmt.Sprintf("The part %s is degraded on %s: %s.", t.Part, where,
			strings.TrimSuffix(cut(t.Why), ".")), map[string]string{"part": t.Part, "why": cut(t.Why), "nodes": where})
		s.Labels = map[string]string{"part": t.Part}
		out = append(out, s)
	}
	for _, r := range l.st.Suspended {
		s := l.signal("rule:"+r.RuleID, fmt.Sprintf("The rule %s is suspended until %s and raises no alert: %s.", r.Rule.Name,
			r.Until.UTC().Format(time.RFC3339), cut(r.Why)), map[string]string{
			"rule": r.Rule.Name, "ruleId": r.RuleID, "until": r.Until.UTC().Format(time.RFC3339), "why": cut(r.Why),
			"steps": strconv.FormatInt(r.Cost, 10),
		})
		s.Group, s.About = r.Rule.Group, r.Rule.Name
		out = append(out, s)
	}
	return out
}

// nothingRan needs a fire that should have run: a cluster without work is well.
func (l look) nothingRan() []Signal {
	if l.st.Running || l.st.Expected.IsZero() {
		return nil
	}
	since := l.st.Expected
	if l.st.LastEnd.After(since) {
		since = l.st.LastEnd
	}
	quiet := l.st.Now.Sub(since)
	if quiet < time.Duration(l.r.WindowSec)*time.Second {
		return nil
	}
	details := map[string]string{"quietSec": seconds(quiet), "expected": l.st.Expected.UTC().Format(time.RFC3339)}
	if !l.st.LastEnd.IsZero() {
		details["lastEnd"] = l.st.LastEnd.UTC().Format(time.RFC3339)
	}
	return []Signal{l.signal("cluster", fmt.Sprintf("Nothing has run for %s, although fires were due since %s.",
		quiet.Round(time.Second), details["expected"]), details)}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
