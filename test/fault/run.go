package fault

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// Test is one run: a rig, a plan, and what shall be done in the meantime.
type Test struct {
	Rig    *rig.Rig
	Server *rig.Server
	Terms  Terms
	// Rounds are what is done; none: a plan is drawn by the terms.
	Rounds []Round
	// For is how long it is disturbed.
	For    time.Duration
	Size   crash.Size
	Target *crash.Target
	// Worker is the program of workers, whose jobs are there as well; empty: there are none.
	Worker string
	// URL is where the target listens.
	URL  string
	Logf func(format string, args ...any)
}

// Options are those of a rig of so many nodes, whose logs tell the checker what it needs. The
// caller names binary and services.
func Options(dir string, nodes int) rig.Options {
	key := make([]byte, 32)
	_, _ = crand.Read(key)
	return rig.Options{
		Dir: dir, Nodes: nodes, Beat: 500 * time.Millisecond, Lease: 3 * time.Second, CommandSlots: 4,
		Watch: []string{saysStopped, saysWorks, saysLost}, Password: "fault-" + crand.Text(),
		Key: base64.StdEncoding.EncodeToString(key),
	}
}

// healBound is how long nodes may take to be up in the registry after the last
// fault.
const healBound = 30 * time.Second

// Run does everything: workload, faults, healing, quiet, check.
func (t *Test) Run(ctx context.Context) (Report, error) {
	report := Report{Seed: t.Terms.Seed, Asked: t.asked()}
	t.Logf("seed %d", t.Terms.Seed)
	if err := t.Rig.Start(ctx); err != nil {
		return report, err
	}
	client := &crash.Client{Base: t.Rig.Members[0].Base()}
	if err := client.Login(ctx, t.Rig.Password); err != nil {
		return report, err
	}
	t.Target.ReportTo(t.report(ctx))
	var err error
	if t.Worker != "" {
		if t.Size.Workers, err = t.hire(ctx, client); err != nil {
			return report, err
		}
	}
	voters, err := crash.Voters(ctx, client)
	if err != nil {
		return report, err
	}
	jobs, err := crash.CreateAll(ctx, client, t.URL, t.Size)
	if err != nil {
		return report, err
	}
	people, stop := t.steer(ctx, client, voters, jobs)
	defer stop()
	w := &watch{
		rig: t.Rig, client: client, hand: &crash.Hand{Job: crash.ByHand(jobs)},
		most: &crash.Maximal{Target: t.URL, WideEach: 8},
	}
	work := NewWork(t.Rig, client, t.URL, t.Size.Commands)
	striker := NewStriker(t.Rig, t.Server, work, jobs)
	began := time.Now()
	if err := t.disturb(ctx, w, striker); err != nil {
		return report, err
	}
	report.Took = time.Since(began)
	if err := w.awaitMembers(ctx, healBound); err != nil {
		return report, err
	}
	if err := cmp.Or(w.most.Refused, w.most.Settle(ctx, client)); err != nil {
		return report, err
	}
	people.Settle()
	h, err := crash.Quiet(ctx, client, slices.Concat(jobs, work.made(), w.most.Jobs), w.hand)
	if err != nil {
		return report, err
	}
	work.add(&h)
	w.most.Add(&h)
	report.Quiet = time.Since(began) - report.Took
	if err := t.complete(ctx, client, &h); err != nil {
		return report, err
	}
	stop()
	evidence, err := crash.ReadFlows(ctx, client, people, h)
	if err != nil {
		return report, err
	}
	flows := judge.New(evidence)
	h.Cancels = append(h.Cancels, flows.Cancelled()...)
	left, err := leftovers(ctx, t.Rig.DSN)
	if err != nil {
		return report, err
	}
	for _, worker := range t.Rig.Workers {
		asked := time.Now()
		striker.exits = append(striker.exits, history.Exit{Node: worker.ID, At: asked, Code: worker.Stop()})
	}
	for _, m := range t.Rig.Members {
		asked := time.Now()
		striker.exits = append(striker.exits, history.Exit{Node: m.ID, At: asked, Code: m.Stop()})
	}
	outputs := h.Cluster.Outputs
	if h.Cluster, err = t.cluster(w, striker); err != nil {
		return report, err
	}
	h.Cluster.Outputs = outputs
	h.Cluster.Leftovers = left
	report.Maximal = w.most
	report.fill(t.Rig, striker, h)
	if t.Size.Flows {
		tally := flows.Count()
		report.Flows = &tally
	}
	report.Violations = append(report.Violations, flows.Judge()...)
	return report, t.keep(h, report)
}

// asked are the kinds that come by turns and beside them; none where the rounds are given.
func (t *Test) asked() []Kind {
	if len(t.Rounds) > 0 {
		return nil
	}
	asked := slices.Clone(t.Terms.Kinds)
	if t.Terms.Flows {
		asked = append(asked, KillFlow)
	}
	if t.Worker != "" {
		asked = append(asked, WorkerKinds()...)
	}
	return asked
}

// steer lets people act on workflow runs by any node until it is stopped.
func (t *Test) steer(ctx context.Context, c *crash.Client, voters map[string]*crash.Client, jobs []history.Job) (
	*crash.Steerer, func(),
) {
	var bases []string
	for _, m := range t.Rig.Members[1:] {
		bases = append(bases, m.Base())
	}
	people := crash.NewSteerer(c, voters, t.Target, t.URL, t.Size, jobs, bases...)
	steering, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { people.Run(steering) })
	return people, func() {
		stop()
		done.Wait()
	}
}

// disturb carries the plan out, as far as the time goes, and heals.
func (t *Test) disturb(ctx context.Context, w *watch, s *Striker) error {
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		wg.Go(func() { s.tend(watching) })
		w.run(watching)
		wg.Wait()
	}()
	torment, relieve := context.WithCancel(ctx)
	tormented := make(chan error, 2)
	go func() { tormented <- s.disturbCrew(torment, t.Terms.Seed) }()
	go func() { tormented <- t.raze(torment, s.work) }()
	defer func() {
		relieve()
		stop()
		<-done
	}()
	until := time.Now().Add(t.For)
	rig.Sleep(ctx, 2*time.Second)
	rounds := t.Rounds
	if len(rounds) == 0 {
		rounds = Plan(t.Terms)
	}
	for i, round := range rounds {
		if time.Now().After(until) {
			break
		}
		t.Logf("%s round %d: %s", time.Now().Format("15:04:05.000"), i+1, round)
		if err := s.Round(ctx, round); err != nil {
			return err
		}
		rig.Sleep(ctx, round.Rest)
	}
	relieve()
	return errors.Join(<-tormented, <-tormented, t.Rig.Heal(ctx), s.Done())
}

// complete adds what the targets saw, and the former attempts where they tell
// something.
func (t *Test) complete(ctx context.Context, c *crash.Client, h *history.History) error {
	h.Calls = t.Target.Calls()
	if t.Size.Commands != "" {
		calls, err := history.ReadCommands(t.Size.Commands)
		if err != nil {
			return err
		}
		h.Calls = append(h.Calls, calls...)
	}
	if err := Former(ctx, c, h); err != nil {
		return err
	}
	return outputs(ctx, c, h)
}

// Former reads the former attempts of runs where they tell something, and of some others.
func Former(ctx context.Context, c *crash.Client, h *history.History) error {
	odd := history.Unusual(h.Calls)
	more := maxAttempts
	for i, r := range h.Rows {
		if r.Attempt < 2 || !odd[r.ID] && more == 0 {
			continue
		}
		if !odd[r.ID] {
			more--
		}
		former, err := c.Attempts(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("read the attempts of %s: %w", r.ID, err)
		}
		h.Rows[i].Former = former
	}
	return nil
}

func (t *Test) cluster(w *watch, s *Striker) (history.Cluster, error) {
	c := history.Cluster{
		Beat: t.Rig.Beat, Lease: t.Rig.Lease, Faults: s.faults, Exits: s.exits, Twins: s.twins,
		Steps: s.steps,
		Looks: w.looks, Unexplained: w.unexplained, Answers: w.answers, Sights: w.sights, Holdings: w.holdings,
		Bound: history.Holding{Descriptors: 1000, Memory: 512 << 20, Connections: 40},
	}
	for _, m := range t.Rig.Members {
		c.Nodes = append(c.Nodes, m.ID)
		if err := notes(m, &c); err != nil {
			return c, err
		}
		for _, at := range m.Fell() {
			c.Exits = append(c.Exits, history.Exit{Node: m.ID, At: at, Code: -1})
		}
	}
	return c, nil
}

// report sends what targets report to some node, whichever runs the call.
func (t *Test) report(ctx context.Context) crash.Reports {
	return func(path, token, body string) int {
		m := t.Rig.Members[rand.IntN(len(t.Rig.Members))] //nolint:gosec // any node will do
		if !m.Up() {
			return 0
		}
		bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(bounded, http.MethodPost, m.Base()+path, strings.NewReader(body))
		if err != nil {
			return 0
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Scheduler-Run-Token", token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		_ = res.Body.Close()
		if res.StatusCode > 299 && res.StatusCode != http.StatusServiceUnavailable {
			t.Logf("%s %s refused the report to %s: %d %s", time.Now().Format("15:04:05.000"), m.ID, path, res.StatusCode, text)
		}
		return res.StatusCode
	}
}

// The lines that nodes log of leases.
const (
	saysStopped = "this node stops its work"
	saysWorks   = "this node works again"
	saysLost    = "a node has stopped beating"
)

// notes reads what a node has logged of its lease, and of other nodes.
func notes(m *rig.Member, c *history.Cluster) error {
	for _, at := range m.Node.Began() {
		c.Fences = append(c.Fences, history.Fence{Node: m.ID, At: at, Works: true, Why: "it starts"})
	}
	for _, text := range m.Node.Notes() {
		if err := noteLine(m.ID, text, c); err != nil {
			return err
		}
	}
	return nil
}

// noteLine takes the moment that the line itself names: on a busy machine the lines of two nodes reach the test in
// another order than that in which they were written.
func noteLine(id, text string, c *history.Cluster) error {
	var line struct {
		Time                      time.Time
		Msg, Node, Status, Reason string
		Epoch                     int64
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		return fmt.Errorf("read a line of the log of %s: %w: %s", id, err, text)
	}
	switch {
	case line.Msg == saysStopped || line.Msg == saysWorks:
		c.Fences = append(c.Fences, history.Fence{
			Node: id, Epoch: line.Epoch, At: line.Time, Works: line.Msg == saysWorks, Why: line.Reason,
		})
	case line.Msg == saysLost && line.Status == "DOWN":
		c.Deaths = append(c.Deaths, history.Death{Node: line.Node, By: id, Epoch: line.Epoch, At: line.Time})
	}
	return nil
}

// maxAttempts bounds the runs whose attempts are read without a cause.
const maxAttempts = 300

// maxOutputs bounds the runs whose output is read.
const maxOutputs = 300

// outputs reads what some runs have put out, those that ran more than once first.
func outputs(ctx context.Context, c *crash.Client, h *history.History) error {
	talk := map[string]bool{}
	for _, j := range h.Jobs {
		talk[j.ID] = j.Lines
	}
	rows := slices.DeleteFunc(slices.Clone(h.Rows), func(r history.Row) bool {
		return !talk[r.JobID] || r.Status == "SKIPPED"
	})
	slices.SortStableFunc(rows, func(a, b history.Row) int { return b.Attempt - a.Attempt })
	for _, r := range rows[:min(len(rows), maxOutputs)] {
		lines, err := c.Output(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("read the output of %s: %w", r.ID, err)
		}
		h.Cluster.Outputs = append(h.Cluster.Outputs, history.Output{Execution: r.ID, Lines: lines})
	}
	return nil
}

// keep writes what is known into the folder of the run.
func (t *Test) keep(h history.History, r Report) error {
	if err := os.WriteFile(filepath.Join(t.Rig.Dir, "report.txt"), []byte(r.Full()), 0o600); err != nil {
		return err
	}
	for name, list := range map[string]any{
		"rows": h.Rows, "calls": h.Calls, "jobs": h.Jobs, "faults": h.Cluster.Faults,
		"fences": h.Cluster.Fences, "deaths": h.Cluster.Deaths, "answers": h.Cluster.Answers, "steps": h.Cluster.Steps,
	} {
		raw, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(t.Rig.Dir, name+".json"), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}
