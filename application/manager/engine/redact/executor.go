// Package redact gives runs the secrets that their definitions name, and
// keeps the values out of everything that a run says. The rules of the engine
// are in docs/rules.md.
package redact

import (
	"context"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Opener gives the values of secrets by their names. Names that do not exist are
// left out.
type Opener interface {
	// Open is for a job of a group. A secret that is not for the group is left out.
	Open(ctx context.Context, group string, names []string) (map[string]string, error)
}

// runner runs attempts.
type runner interface {
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// Executor opens the secrets of an attempt before it runs, and hides them in
// its log, its checkpoint and its outcome. It is safe for concurrent use.
type Executor struct {
	next    runner
	secrets Opener
}

// New returns an Executor that runs attempts by next.
func New(next runner, secrets Opener) *Executor { return &Executor{next: next, secrets: secrets} }

// Run runs one attempt. One whose definition names no secret is passed on as
// it is.
func (e *Executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	names := placeholder.SecretNames(run.Job.Data)
	if len(names) == 0 {
		return e.next.Run(ctx, run, rep)
	}
	values, err := e.secrets.Open(ctx, run.Job.Group, names)
	if err != nil {
		return ending.Unread(ctx, "the secrets of the run cannot be read", err)
	}
	run.Secrets = values
	mask := newMask(slices.Collect(maps.Values(values)))
	outcome := e.next.Run(ctx, run, &reporter{rep, mask})
	outcome.Message = mask.hide(outcome.Message)
	outcome.Result = mask.hide(outcome.Result)
	outcome.Checkpoint = mask.hide(outcome.Checkpoint)
	return outcome
}

// Hiding is what keeps the secrets of an attempt out of what is said of it. The zero value hides nothing.
type Hiding struct {
	hide func(text string) string
	// Unknown: the secrets are not known, so that no text can be shown at all.
	Unknown bool
}

// unknownText replaces a text that may hold secrets that this node does not know.
const unknownText = Hidden + " (withheld: this node cannot open the secrets of the run, so it cannot hide " +
	"them in this text)"

// Hide returns how the values are hidden.
func Hide(values []string) Hiding { return Hiding{hide: newMask(values).hide} }

// Withhold returns how the texts of an attempt are hidden whose secrets nobody here knows.
func Withhold() Hiding {
	return Hiding{Unknown: true, hide: func(text string) string {
		if text == "" {
			return ""
		}
		return unknownText
	}}
}

// Text is a text without the secrets.
func (h Hiding) Text(text string) string {
	if h.hide == nil {
		return text
	}
	return h.hide(text)
}

// reporter hides secrets in what an attempt reports.
type reporter struct {
	entity.Reporter
	mask *mask
}

// Log implements entity.Reporter.
func (r *reporter) Log(t entity.LogType, line string) { r.Reporter.Log(t, r.mask.hide(line)) }

// Checkpoint implements entity.Reporter.
func (r *reporter) Checkpoint(state string) { r.Reporter.Checkpoint(r.mask.hide(state)) }
