//go:build linux

package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// Fault is what happens to a node while commands run.
type Fault string

// The faults.
const (
	KillNode   Fault = "kill -9 of the node"
	StopNode   Fault = "SIGSTOP of the node"
	KillHelper Fault = "kill -9 of the helper"
	StopHelper Fault = "SIGSTOP of the helper"
)

// Faults lists them.
func Faults() []Fault { return []Fault{KillNode, StopNode, KillHelper, StopHelper} }

// The bounds of a round. lease is the product's own; slack is what a loaded
// machine may add.
const (
	lease = 10 * time.Second
	slack = 5 * time.Second
	again = 30 * time.Second
)

// Matrix puts one node through faults, round by round.
type Matrix struct {
	Node   *rig.Node
	Client *crash.Client
	// Helper is the argument by which the node's helper is known.
	Helper string
	// Player is the program whose argument NastyCommand plays commands.
	Player string
	// Ledger is the file that commands write to; it exists.
	Ledger string
	Log    func(format string, args ...any)

	jobs map[string]string // by kind
}

// Round is what a round has shown.
type Round struct {
	Fault Fault
	// Gone is how long after the fault no process of a command was left.
	Gone time.Duration
	// Retried is how long after the fault every command worked again.
	Retried    time.Duration
	Violations []string
}

// Prepare makes a job of each kind.
func (m *Matrix) Prepare(ctx context.Context) error {
	m.jobs = map[string]string{}
	for _, kind := range Kinds() {
		job, err := m.Client.Create(ctx, map[string]any{
			"name": "nasty " + kind, "jobType": "COMMAND",
			"jobData": map[string]any{"command": []string{
				m.Player, NastyCommand, kind, m.Ledger, "${executionId}",
				"${attempt}",
			}},
		})
		if err != nil {
			return err
		}
		m.jobs[kind] = job.ID
	}
	return nil
}

// Round starts a command of each kind, lets the fault happen while they work,
// and sees them end.
func (m *Matrix) Round(ctx context.Context, fault Fault) (r Round, err error) {
	r.Fault = fault
	if err := os.Truncate(m.Ledger, 0); err != nil {
		return r, err
	}
	var ids []string
	for _, kind := range slices.Sorted(maps.Keys(m.jobs)) {
		id, err := m.Client.Trigger(ctx, m.jobs[kind], "")
		if err != nil {
			return r, err
		}
		ids = append(ids, id)
	}
	if err := m.working(ids, 1); err != nil {
		return r, fmt.Errorf("before the fault: %w", err)
	}
	time.Sleep(rand.N(200 * time.Millisecond)) //nolint:gosec // a moment, not a secret
	before := Alive(m.Ledger)
	began := time.Now()
	if err := m.strike(ctx, fault, &r, before, began); err != nil {
		return r, err
	}
	if err := m.working(ids, 2); err != nil {
		r.Violations = append(r.Violations, "a run is stuck: "+err.Error())
	}
	r.Retried = time.Since(began)
	return r, m.finish(ctx, ids, &r)
}

// strike lets the fault happen, and waits for what was alive to be gone.
func (m *Matrix) strike(ctx context.Context, fault Fault, r *Round, before map[int]string, began time.Time) error {
	helper := HelperOf(m.Node.Pid(), m.Helper)
	if helper == 0 {
		return errors.New("the node has no helper")
	}
	var hit error
	switch fault {
	case KillNode:
		m.Node.Kill()
	case StopNode:
		hit = m.Node.Signal(syscall.SIGSTOP)
	case KillHelper:
		hit = syscall.Kill(helper, syscall.SIGKILL)
	case StopHelper:
		hit = syscall.Kill(helper, syscall.SIGSTOP)
	}
	if hit != nil {
		return fmt.Errorf("%s: %w", fault, hit)
	}
	for left := before; len(left) > 0; time.Sleep(2 * time.Millisecond) {
		left = survivors(before, Alive(m.Ledger))
		if time.Since(began) > lease+slack {
			r.Violations = append(r.Violations, fmt.Sprintf("%s after the fault there lived %v", time.Since(began), left))
			break
		}
	}
	r.Gone = time.Since(began)
	switch fault {
	case KillNode:
		_, err := m.Node.Start(ctx, "")
		return err
	case StopNode:
		return m.Node.Signal(syscall.SIGCONT)
	}
	return nil
}

// survivors are those of before that still live. The links of a chain follow
// each other, so that any link counts.
func survivors(before, now map[int]string) map[int]string {
	left := map[int]string{}
	for pid, kind := range now {
		if before[pid] == kind {
			left[pid] = kind
		}
	}
	return left
}

// working waits until every execution works in that attempt.
func (m *Matrix) working(ids []string, attempt int) error {
	for until := time.Now().Add(again); ; time.Sleep(20 * time.Millisecond) {
		beats, err := ReadLedger(m.Ledger)
		if err != nil {
			return err
		}
		attempts := Attempts(beats)
		missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return attempts[id] >= attempt })
		if len(missing) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s after it was due, attempt %d of %v does not work", again, attempt, missing)
		}
	}
}

// finish cancels the runs and reads what they have written.
func (m *Matrix) finish(ctx context.Context, ids []string, r *Round) error {
	for _, id := range ids {
		if err := m.Client.Cancel(ctx, id); err != nil {
			return err
		}
	}
	for _, id := range ids {
		for until := time.Now().Add(again); ; time.Sleep(10 * time.Millisecond) {
			row, err := m.Client.Execution(ctx, id)
			if err != nil {
				return err
			}
			if row.Status == "CANCELLED" {
				break
			}
			if time.Now().After(until) {
				r.Violations = append(r.Violations, fmt.Sprintf("%s is %s %s after it was cancelled", id, row.Status, again))
				break
			}
		}
	}
	if left := Alive(m.Ledger); len(left) > 0 {
		r.Violations = append(r.Violations, fmt.Sprintf("the runs have ended and there live %v", left))
	}
	beats, err := ReadLedger(m.Ledger)
	if err != nil {
		return err
	}
	for _, o := range Overlaps(beats) {
		r.Violations = append(r.Violations, "two attempts at once: "+o)
	}
	return nil
}
