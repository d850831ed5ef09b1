package sdktest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Stop stops an attempt at a moment that the handler itself marks by what it
// says, so that a test needs no waits. It serves one attempt.
type Stop struct {
	cause error
	when  func(said) bool
}

// said is one thing that a handler reports.
type said struct {
	line       *string
	checkpoint *string
	percent    int
}

// AtOnce stops the attempt before the handler begins.
func AtOnce(reason sdk.Stop) *Stop { return &Stop{cause: cause(reason)} }

// AtLine stops the attempt when a line of its log contains a string.
func AtLine(reason sdk.Stop, text string) *Stop {
	return &Stop{cause(reason), func(s said) bool { return s.line != nil && strings.Contains(*s.line, text) }}
}

// AtCheckpoint stops the attempt when it keeps that checkpoint.
func AtCheckpoint(reason sdk.Stop, state string) *Stop {
	return &Stop{cause(reason), func(s said) bool { return s.checkpoint != nil && *s.checkpoint == state }}
}

// AtProgress stops the attempt when it is at least so far.
func AtProgress(reason sdk.Stop, percent int) *Stop {
	return &Stop{cause(reason), func(s said) bool { return s.percent >= percent }}
}

// cause is what a context is cancelled with for that reason.
func cause(reason sdk.Stop) error { return stopped(reason) }

// stopped is the reason for sdk.WhyStopped.
type stopped sdk.Stop

// Error implements error.
func (s stopped) Error() string { return "the test stopped the run: " + string(s) }

// StopReason is what sdk.WhyStopped looks for.
func (s stopped) StopReason() string { return string(s) }

// notebook is the sink of an attempt under test.
type notebook struct {
	stop   *Stop
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	done        bool
	lines       []string
	progress    []int
	checkpoints []string
}

// Log implements sdk.Sink.
func (n *notebook) Log(line string) {
	n.note(said{line: &line, percent: -1}, func() { n.lines = append(n.lines, line) })
}

// Progress implements sdk.Sink.
func (n *notebook) Progress(percent int) {
	n.note(said{percent: percent}, func() { n.progress = append(n.progress, percent) })
}

// Checkpoint implements sdk.Sink.
func (n *notebook) Checkpoint(state string) {
	n.note(said{checkpoint: &state, percent: -1}, func() { n.checkpoints = append(n.checkpoints, state) })
}

func (n *notebook) note(s said, keep func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	keep()
	if n.stop != nil && n.stop.when != nil && !n.done && n.stop.when(s) {
		n.done = true
		n.cancel(n.stop.cause)
	}
}

func (n *notebook) stopped() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.done
}

func (n *notebook) copyTo(r *Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r.Lines, r.Progress, r.Checkpoints = slices.Clone(n.lines), slices.Clone(n.progress), slices.Clone(n.checkpoints)
}
