// Package custom runs CUSTOM jobs. Their work is Go handlers, which are registered under the
// class that the job names.
package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// maxListed bounds the classes that a message lists.
const maxListed = 20

// ErrDuplicate means that the class already has a handler.
var ErrDuplicate = errors.New("the class has a handler already")

// Registry holds the handlers of this node and runs their jobs. It is safe for concurrent use;
// the program may add handlers while jobs run.
type Registry struct {
	mu      sync.RWMutex
	entries map[string]entry
}

// entry is a registered handler. A nil handler does nothing. A nil check accepts any job data.
type entry struct {
	handler sdk.Handler
	check   func(r *jobdata.Reader)
}

// New returns a registry of the built-in handlers noop, sleep, echo, fail and log. The handler
// sleep uses the clock.
func New(c clock.Clock) *Registry { return &Registry{entries: builtIns(c)} }

// Register adds a handler under a class of 1 to 255 characters, without control characters and
// outer spaces. It refuses the names of built-in handlers.
func (g *Registry) Register(class string, handler sdk.Handler) error {
	switch {
	case handler == nil:
		return fmt.Errorf("register handler %q: the handler is nil", class)
	case class == "" || strings.TrimSpace(class) != class:
		return fmt.Errorf("register handler %q: a class must not be empty or have outer spaces", class)
	case utf8.RuneCountInString(class) > validation.MaxClass:
		return fmt.Errorf("register handler %.40q…: a class has at most %d characters", class, validation.MaxClass)
	case !utf8.ValidString(class) || strings.ContainsFunc(class, unicode.IsControl):
		return fmt.Errorf("register handler %q: a class must not hold control characters", class)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, taken := g.entries[class]; taken {
		return fmt.Errorf("register handler %q: %w", class, ErrDuplicate)
	}
	g.entries[class] = entry{handler: handler}
	return nil
}

// Classes lists the registered classes in order.
func (g *Registry) Classes() []string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Sorted(maps.Keys(g.entries))
}

// Own lists, in order, the classes that are not built in.
func (g *Registry) Own() []string {
	return slices.DeleteFunc(g.Classes(), entity.BuiltIn)
}

func (g *Registry) find(class string) (entry, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	e, ok := g.entries[class]
	return e, ok
}

// Check lists what is wrong with the placeholders of the job data. For built-in handlers it
// also checks the data. The validation of the domain reports a missing class. A class without a
// handler here is no error: another node may have the handler.
func (g *Registry) Check(job *entity.Job) []apperror.Field {
	if strings.TrimSpace(job.Class) == "" {
		return nil
	}
	e, _ := g.find(job.Class)
	_, faults := e.read(job.Data, placeholder.Samples(job))
	return faults
}

// read replaces the placeholders of job data and checks the data.
func (e entry) read(data string, run *placeholder.Values) (string, []apperror.Field) {
	data, faults := jobdata.Expand(data, run)
	if e.check == nil || len(faults) > 0 {
		return data, faults
	}
	r := jobdata.Read(data, run)
	e.check(r)
	return data, r.End()
}

// unknown returns the message for an unknown class; it lists the known classes.
func (g *Registry) unknown(class string) string {
	known := g.Classes()
	more := ""
	if len(known) > maxListed {
		more = fmt.Sprintf(" and %d more", len(known)-maxListed)
		known = known[:maxListed]
	}
	return fmt.Sprintf("no handler is registered as %.64q on this server; there are %s%s", class,
		strings.Join(known, ", "), more)
}

// Run runs one attempt on the caller's goroutine. It does not recover panics.
func (g *Registry) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	e, ok := g.find(run.Job.Class)
	if !ok {
		return entity.Failed(entity.ReasonInvalid, g.unknown(run.Job.Class))
	}
	if e.handler == nil {
		return entity.Succeeded("")
	}
	data, wrong := e.read(run.Job.Data, placeholder.Of(run))
	if len(wrong) > 0 {
		return jobdata.Refused(wrong, apperror.Invalid(wrong).Error())
	}
	r := newRun(run, data, rep)
	err := e.handler.Handle(ctx, r)
	if err == nil {
		return entity.Succeeded(r.Result())
	}
	outcome := entity.Failed(entity.ReasonError, err.Error())
	outcome.Result = r.Result()
	outcome.NoRetry = sdk.IsFatal(err)
	outcome.RetryAfter, _ = sdk.RetryDelay(err)
	return outcome
}

func newRun(run entity.Run, data string, rep entity.Reporter) *sdk.Run {
	id := runidentity.Of(run)
	return sdk.NewRun(sdk.RunInfo{
		ExecutionID: id.ExecutionID, JobID: id.JobID, JobName: id.JobName,
		ScheduledTime: id.ScheduledTime, Attempt: id.Attempt,
		ShardIndex: id.ShardIndex, ShardTotal: id.ShardTotal,
		FencingToken: id.FencingToken, IdempotencyKey: id.IdempotencyKey,
		Params: raw(id.Params), JobData: raw(data), Checkpoint: id.Checkpoint,
		Deadline: id.Deadline, TraceParent: id.TraceParent,
	}, sink{rep})
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// sink writes what a handler says into the run's log.
type sink struct{ rep entity.Reporter }

func (s sink) Log(line string)         { s.rep.Log(entity.LogStdout, line) }
func (s sink) Progress(percent int)    { s.rep.Progress(percent) }
func (s sink) Checkpoint(state string) { s.rep.Checkpoint(state) }
