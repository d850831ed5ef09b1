package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// Protocol is the version of the protocol that is spoken here.
	Protocol = 1
	// maxWeight is the greatest share under WEIGHTED, as that of a node.
	maxWeight = 1000
	// registrationsAtOnce bounds the registrations under way at a node.
	registrationsAtOnce = 50
	// fullRetrySec is when a worker of a group that is full comes again.
	fullRetrySec = 30
	// maxPID is the greatest number that every JSON reader reads exactly.
	maxPID = 1<<53 - 1
)

// bootID is the form of the name of a process.
var bootID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,` + strconv.Itoa(worker.MaxBoot) + `}$`)

// Registration is what a worker says of itself.
type Registration struct {
	Protocol              int64
	Group, Instance, Boot string
	Slots, CommandSlots   int64
	Handlers              []string
	Labels                map[string]string
	Weight                int64
	// SDK, Runtime, Version and Host are for people.
	SDK, Runtime, Version, Host string
	PID                         int64
	// Wrong is what is wrong with the fields that could not be read.
	Wrong []apperror.Field
}

// Register begins a life of a worker, or goes on with it where the boot id is the same. The token is of tokenGroup.
// The error names all fields that are wrong.
func (s *WorkerService) Register(ctx context.Context, tokenGroup string, n Registration) (worker.Worker, error) {
	if n.Protocol != Protocol && n.Protocol != 0 {
		return worker.Worker{}, apperror.Conflict("protocol_unknown", "this server speaks version %d of the worker "+
			"protocol, and not %d", Protocol, n.Protocol)
	}
	if n.Group != "" && n.Group != tokenGroup {
		return worker.Worker{}, errForeign(fmt.Sprintf("the token is of the worker group %s, and the worker names %.64q",
			tokenGroup, n.Group))
	}
	select {
	case s.registering <- struct{}{}:
		defer func() { <-s.registering }()
	default:
		return worker.Worker{}, &apperror.Error{
			Kind: apperror.KindTooMany, Code: "too_many_registrations", RetryAfterSec: 1,
			Message: fmt.Sprintf("this node registers %d workers already, which is the most at once", registrationsAtOnce),
		}
	}
	group, err := s.groups.WorkerGroup(ctx, tokenGroup)
	if apperror.Is(err, apperror.KindNotFound) {
		return worker.Worker{}, errUnknownToken()
	}
	if err != nil {
		return worker.Worker{}, err
	}
	if err := apperror.Invalid(n.wrong(group)); err != nil {
		return worker.Worker{}, err
	}
	w, err := s.workers.RegisterWorker(ctx, worker.ID(group.Name, n.Instance), group.Name, n.begin(s.timing()))
	if err != nil {
		return w, refusal(err)
	}
	s.logger.Info("a worker has registered", "worker", w.ID, "instance", w.Instance, "epoch", w.Epoch, "sdk", w.SDK,
		"host", w.Host)
	return w, nil
}

// errForeign is for a token that may not speak for a group or a worker.
func errForeign(says string) error {
	return apperror.New(apperror.KindForbidden, "foreign_group", says)
}

// refusal makes the protocol's errors of those of the store.
func refusal(err error) error {
	var f *apperror.Error
	switch {
	case !errors.As(err, &f):
	case f.Code == "too_many_workers":
		full := apperror.New(apperror.KindTooMany, f.Code, f.Message)
		full.RetryAfterSec = fullRetrySec
		return full
	case f.Code == "worker_group_gone":
		return errUnknownToken()
	}
	return err
}

// begin is the rule of take-over (delivery.Registration), over the row of a worker.
func (n *Registration) begin(timing delivery.Timing) func(former *worker.Worker, now time.Time) (worker.Worker, error) {
	return func(former *worker.Worker, now time.Time) (worker.Worker, error) {
		next := worker.Worker{
			ID: worker.ID(n.Group, n.Instance), Group: n.Group, Instance: n.Instance, Boot: n.Boot, Status: worker.Up,
			Slots:    entity.Slots{entity.SlotGeneral: int(n.Slots), entity.SlotCommand: int(n.CommandSlots)},
			Handlers: slices.Compact(slices.Sorted(slices.Values(n.Handlers))), Labels: n.Labels, Weight: int(n.Weight),
			SDK: n.SDK, Runtime: n.Runtime, Version: n.Version, Host: n.Host, PID: n.PID, BeginTime: now,
		}
		if former != nil && former.Instance != n.Instance {
			return next, apperror.Conflict("instance_id_taken", "the instance %q of this group has the same id %s by chance: "+
				"give this one another name", former.Instance, next.ID)
		}
		was := delivery.RegistrationOf(former)
		is, may := was.Register(n.Boot, timing, now)
		if !may {
			return next, apperror.Conflict("instance_in_use", "another process with the instance name %q has called within "+
				"%s: give each process a name of its own, or wait until that one is gone", n.Instance, was.Timing.Beat*5/2)
		}
		next.Epoch, next.Beat, next.Lease, next.LastBeat = is.Epoch, is.Timing.Beat, is.Timing.Lease, is.LastBeat
		switch {
		case former == nil:
		case is.Epoch == former.Epoch: // the same life, which may have been told to drain
			next.Status, next.Former, next.BeginTime = former.Status, former.Former, former.BeginTime
			next.Running, next.Gateway = former.Running, former.Gateway
		case former.Status == worker.Down: // its row says what it owes
			next.Former = former.Former
		default:
			next.Former = worker.Former{Epoch: former.Epoch, Until: is.FormerUntil}
		}
		return next, nil
	}
}

// wrong is all that is wrong with a registration in a group.
func (n *Registration) wrong(group worker.Group) (wrong []apperror.Field) {
	wrong = slices.Clone(n.Wrong)
	read := len(wrong)
	defer func() { // a field that could not be read is judged once
		wrong = append(wrong[:read:read], slices.DeleteFunc(wrong[read:], func(f apperror.Field) bool {
			return slices.ContainsFunc(n.Wrong, func(w apperror.Field) bool { return w.Field == f.Field })
		})...)
	}()
	add := func(field, code, format string, args ...any) {
		wrong = append(wrong, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	within := func(field string, value, least, most int64) {
		if value < least || value > most {
			add(field, "out_of_range", "must be from %d to %d", least, most)
		}
	}
	line := func(field, text string, most int) {
		if remedy := validation.Line(text, most); remedy != "" {
			add(field, "invalid", "%s", remedy)
		}
	}
	if n.Protocol == 0 {
		add("protocol", "required", "must be %d, the version of the protocol", Protocol)
	}
	if n.Group == "" {
		add("group", "required", "must be the worker group of the token, %s", group.Name)
	}
	if n.Instance == "" {
		add("instance", "required", "must be a name of this process that stays the same over its restarts")
	}
	line("instance", n.Instance, worker.MaxInstance)
	if !bootID.MatchString(n.Boot) {
		add("bootId", "invalid", "must have 1 to %d of A-Z a-z 0-9 . _ : -, drawn anew at each start", worker.MaxBoot)
	}
	within("slots", n.Slots, 0, worker.MaxSlots)
	within("commandSlots", n.CommandSlots, 0, worker.MaxSlots)
	if n.CommandSlots > 0 && !group.Commands {
		add("commandSlots", "not_allowed", "must be 0: the worker group %s may not run commands, unless an admin sets its "+
			"commands to true", group.Name)
	}
	within("weight", n.Weight, 1, maxWeight)
	within("pid", n.PID, 0, maxPID)
	wrong = append(append(wrong, wrongHandlers(n.Handlers)...), validation.Labels("labels", n.Labels)...)
	if len(n.Labels) <= bounds.Labels && validation.LabelBytes(n.Labels) > bounds.LabelBytes {
		add("labels", "too_long", "must have at most %d KiB together, as JSON", bounds.LabelBytes>>10)
	}
	for _, note := range [...][2]string{
		{"sdk", n.SDK}, {"runtime", n.Runtime}, {"version", n.Version}, {"host", n.Host},
	} {
		line(note[0], note[1], worker.MaxNote)
	}
	return wrong
}

// wrongHandlers is the first that is wrong with names of handlers.
func wrongHandlers(names []string) []apperror.Field {
	bytes := 0
	for i, name := range names {
		remedy := validation.Line(name, bounds.Class)
		if name == "" {
			remedy = "give each handler a name"
		}
		if remedy != "" {
			return []apperror.Field{{Field: fmt.Sprintf("handlers[%d]", i), Code: "invalid", Message: remedy}}
		}
		bytes += len(name) + 1
	}
	if bytes <= worker.MaxHandlers {
		return nil
	}
	return []apperror.Field{{
		Field: "handlers", Code: "too_long",
		Message: fmt.Sprintf("must have at most %d KiB together; let another worker offer some", worker.MaxHandlers>>10),
	}}
}
