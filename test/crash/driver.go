// Package crash kills the real binary under load and checks afterwards, from
// outside, that every planned fire has exactly one recorded outcome.
package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// Plan says how often to kill.
type Plan struct {
	// Kills is the number of kills at random moments.
	Kills int
	// EachPoint is how often each failpoint must be hit.
	EachPoint int
	// Seed repeats the random choices; 0 draws one.
	Seed int64
	// MaximalEach is after how many kills maximal definitions are stored; 0: never.
	MaximalEach int
}

// KillPoints are the failpoints at which the process kills itself: between the
// statements of the transactions, and around their commits.
func KillPoints() []string {
	var points []string
	for _, tx := range []struct {
		name  string
		steps []string
	}{
		{"fire", []string{"locked", "inserted", "advanced", "before-commit", "after-commit"}},
		{"complete", []string{"locked", "finished", "before-commit", "after-commit"}},
		{"claim", []string{"claimed", "before-commit", "after-commit"}},
		{"follow", []string{"before-commit", "after-commit"}},
		{"complete", []string{"run-opened", "run-locked", "run-saved"}}, // a run opens and closes with an end
		{"follow-run", []string{"run-locked", "inserted", "run-saved", "before-commit", "after-commit"}},
		{"stop-steps", []string{"before-commit", "after-commit"}},
		{"vote", []string{"voted", "before-commit", "after-commit"}},
		{"execution.cancel", []string{"before-commit", "after-commit"}},
		{"job.trigger", []string{"inserted", "before-commit", "after-commit"}},
		{"fold-open", []string{"after-commit"}},
		{"fold-shards", []string{"after-commit"}},
		{"fold-scopes", []string{"after-commit"}},
		{"fold-jobs", []string{"before-commit", "after-commit"}},
		{"fold-close", []string{"before-commit", "after-commit"}},
	} {
		for _, step := range tx.steps {
			points = append(points, tx.name+"."+step)
		}
	}
	return points
}

// FlowPoints are those of them at which workflow runs open, go on, close and are stopped, and votes are counted.
func FlowPoints() (points []string) {
	for _, p := range KillPoints() {
		for _, of := range []string{"follow-run.", "complete.run-", "stop-steps.", "vote."} {
			if strings.HasPrefix(p, of) {
				points = append(points, p)
			}
		}
	}
	return points
}

// lostPoints are those at which the commit is applied and its reply lost.
func lostPoints() []string {
	return []string{
		"fire.reply-lost", "complete.reply-lost", "claim.reply-lost", "follow.reply-lost", "fold-jobs.reply-lost",
		"follow-run.reply-lost", "stop-steps.reply-lost", "vote.reply-lost", "execution.cancel.reply-lost",
		"job.trigger.reply-lost",
	}
}

// Report is what a run came to.
type Report struct {
	Seed     int64
	Kills    int
	AtPoint  map[string]int
	Ready    []time.Duration
	ExitCode int
	// Maximal are the definitions at the edge of what validation takes.
	Maximal Maximal
	// Flows counts what became of the workflow runs.
	Flows string
	history.Summary
}

// String is the report for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d random kills\n", r.Seed, r.Kills)
	for _, p := range append(KillPoints(), lostPoints()...) {
		if r.AtPoint[p] > 0 {
			fmt.Fprintf(&b, "  %-24s %d times\n", p, r.AtPoint[p])
		}
	}
	slices.Sort(r.Ready)
	if n := len(r.Ready); n > 0 {
		fmt.Fprintf(&b, "restart to ready: p50 %s, max %s\n", r.Ready[n/2].Round(time.Millisecond),
			r.Ready[n-1].Round(time.Millisecond))
	}
	if len(r.Maximal.Jobs) > 0 {
		b.WriteString(r.Maximal.Line(r.Rows))
	}
	return b.String() + r.Flows + r.Summary.String()
}

// Driver runs the workload and kills the node.
type Driver struct {
	node   *rig.Node
	client *Client
	target *Target
	url    string
	plan   Plan
	random *rand.Rand
	logf   func(format string, args ...any)

	jobs   []history.Job
	people *Steerer
	hand   Hand
	report Report
}

// NewDriver wires the parts; url is where the target listens.
func NewDriver(n *rig.Node, c *Client, t *Target, url string, p Plan, logf func(format string, args ...any)) *Driver {
	if p.Seed == 0 {
		p.Seed = time.Now().UnixNano()
	}
	return &Driver{
		node: n, client: c, target: t, url: url, plan: p, logf: logf,
		random: rand.New(rand.NewPCG(uint64(p.Seed), 1)), //nolint:gosec // a seed that can be repeated is the point
		report: Report{Seed: p.Seed, AtPoint: map[string]int{}, Maximal: Maximal{Target: url}},
	}
}

// Run does everything: workload, kills, quiet, check.
func (d *Driver) Run(ctx context.Context, password string) (Report, error) {
	d.logf("seed %d", d.plan.Seed)
	if err := d.start(ctx, ""); err != nil {
		return d.report, err
	}
	if err := d.client.Login(ctx, password); err != nil {
		return d.report, err
	}
	size := Size{Copies: 1, Flows: true, Seed: uint64(d.plan.Seed)}
	voters, err := Voters(ctx, d.client)
	if err != nil {
		return d.report, err
	}
	if d.jobs, err = CreateAll(ctx, d.client, d.url, size); err != nil {
		return d.report, err
	}
	d.people = NewSteerer(d.client, voters, d.target, d.url, size, d.jobs)
	steering, stop := context.WithCancel(ctx)
	var people sync.WaitGroup
	people.Go(func() { d.people.Run(steering) })
	defer people.Wait()
	defer stop()
	d.hand.Job = ByHand(d.jobs)
	if err := d.killAll(ctx); err != nil {
		return d.report, err
	}
	if err := cmp.Or(d.report.Maximal.Refused, d.report.Maximal.Settle(ctx, d.client)); err != nil {
		return d.report, err
	}
	d.people.Settle()
	h, err := Quiet(ctx, d.client, slices.Concat(d.jobs, d.report.Maximal.Jobs), &d.hand)
	h.Calls = d.target.Calls()
	d.report.Maximal.Add(&h)
	if err != nil {
		return d.report, err
	}
	stop()
	people.Wait()
	evidence, err := ReadFlows(ctx, d.client, d.people, h)
	if err != nil {
		return d.report, err
	}
	flows := judge.New(evidence)
	h.Cancels = flows.Cancelled()
	d.report.ExitCode = d.node.Stop()
	d.report.Summary = history.Summarize(h)
	d.report.Flows = flows.Count().String()
	d.report.Violations = append(d.report.Violations, flows.Judge()...)
	return d.report, nil
}

func (d *Driver) start(ctx context.Context, failpoint string) error {
	took, err := d.node.Start(ctx, failpoint)
	if err == nil {
		d.report.Ready = append(d.report.Ready, took)
	}
	return err
}

// between draws a time.
func (d *Driver) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.random.Int64N(int64(most-least)))
}

// killAll kills at random moments and at the failpoints, in one mixed order.
func (d *Driver) killAll(ctx context.Context) error {
	var order []string
	for range d.plan.Kills {
		order = append(order, "")
	}
	for range d.plan.EachPoint {
		order = append(order, append(KillPoints(), lostPoints()...)...)
	}
	d.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, point := range order {
		d.trigger(ctx)
		if d.plan.MaximalEach > 0 && i%d.plan.MaximalEach == 0 {
			_ = d.report.Maximal.Press(ctx, d.client) // one that fails is made again later
		}
		var err error
		if point == "" {
			err = d.killAtRandom(ctx)
		} else {
			err = d.killAt(ctx, point)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) killAtRandom(ctx context.Context) error {
	time.Sleep(d.between(100*time.Millisecond, 1500*time.Millisecond))
	d.node.Kill()
	d.report.Kills++
	if d.random.IntN(8) == 0 { // now and then long enough to miss fires
		time.Sleep(d.between(time.Second, 3*time.Second))
	}
	return d.start(ctx, "")
}

// pointTries bounds the lives in which a failpoint may be missed.
const pointTries = 5

// killAt restarts the node with one failpoint armed, until it was hit.
func (d *Driver) killAt(ctx context.Context, point string) error {
	lost := slices.Contains(lostPoints(), point)
	for range pointTries {
		d.node.Kill()
		before := d.node.KilledItself(point)
		hit := 1 + d.random.IntN(6)
		if slices.ContainsFunc(rarePoints(), func(tx string) bool { return strings.HasPrefix(point, tx) }) {
			hit = 1
		}
		if lost {
			if err := d.start(ctx, fmt.Sprintf("%s=replylost@%d", point, hit)); err != nil {
				return err
			}
			d.trigger(ctx)
			time.Sleep(d.between(2*time.Second, 3*time.Second))
			d.report.AtPoint[point]++
			return nil
		}
		err := d.start(ctx, fmt.Sprintf("%s=kill@%d", point, hit))
		if err != nil && !errors.Is(err, rig.ErrStarting) {
			return err
		}
		if err == nil {
			d.trigger(ctx)
			if !d.node.ExitedWithin(5 * time.Second) {
				continue
			}
		}
		if d.node.KilledItself(point) == before {
			return fmt.Errorf("the server ended by itself, and not at %s: %s", point, d.node.Stderr())
		}
		d.report.AtPoint[point]++
		return d.start(ctx, "")
	}
	return fmt.Errorf("the failpoint %s was not hit in %d lives", point, pointTries)
}

// rarePoints are the beginnings of those that a life of a server may meet once.
func rarePoints() []string {
	return []string{"fold-", "vote.", "stop-steps.", "execution.cancel.", "job.trigger."}
}

// trigger runs the job by hand; a call that fails is made again later.
func (d *Driver) trigger(ctx context.Context) { _ = d.hand.Press(ctx, d.client) }
