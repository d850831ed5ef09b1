package alerting

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Users finds users.
type Users interface {
	// UserByID returns apperror.KindNotFound for an unknown id.
	UserByID(ctx context.Context, id string) (entity.User, error)
}

// Jobs finds what rules ask of jobs.
type Jobs interface {
	// AlertJobs: see repository.Alerts.
	AlertJobs(ctx context.Context, ids []string) (map[string]repository.AlertJob, error)
}

// Deps are the parts of the services of what people define.
type Deps struct {
	Settings repository.AlertSettings
	Users    Users
	Jobs     Jobs
	// Expressions compiles what rules of type EXPRESSION say.
	Expressions rules.Expressions
	Clock       clock.StoreClock
}

// definition is a pointer to what people define.
type definition[T any] interface {
	*T
	alert.Headed
}

// kind is how one kind of definition differs from the others.
type kind[P any] struct {
	of alert.Kind
	// most bounds how many there are.
	most int
	// keep gives next what nobody edits, from former; that is nil for a new one.
	keep func(former, next P, now time.Time)
	// check lists what is wrong with next.
	check func(ctx context.Context, former, next P, now time.Time) ([]apperror.Field, error)
	// lasts says why one cannot be deleted; nil is any can.
	lasts func(v P) error
	// seal puts what nobody may read back beside the document; may be nil.
	seal func(v P, into *alert.Setting) error
	// room makes place for another one where there are too many; may be nil.
	room func(ctx context.Context) error
}

// Settings manages one kind of what people define: rules, silences, routes, teams,
// contacts or on-call plans. Safe for concurrent use.
type Settings[T any, P definition[T]] struct {
	deps Deps
	kind kind[P]
}

// List is a page by name. Groups are those whose settings may be seen, beside those of all
// groups; nil is all.
func (s *Settings[T, P]) List(ctx context.Context, groups []string, p repository.Page) ([]P, string, error) {
	found, next, err := s.deps.Settings.ListAlertSettings(ctx, s.kind.of, groups, p)
	if err != nil {
		return nil, "", err
	}
	out := make([]P, len(found))
	for i, one := range found {
		if out[i], err = alert.Read[T, P](one); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// Get returns apperror.KindNotFound for an unknown id.
func (s *Settings[T, P]) Get(ctx context.Context, id string) (P, error) {
	found, err := s.deps.Settings.AlertSetting(ctx, s.kind.of, id)
	if err != nil {
		return nil, err
	}
	return alert.Read[T, P](found)
}

// Check lists all that is wrong with a definition; former is nil for a new one.
func (s *Settings[T, P]) Check(ctx context.Context, former, next P) error {
	now := s.deps.Clock.Now().UTC().Truncate(time.Millisecond)
	if s.kind.keep != nil {
		s.kind.keep(former, next, now)
	}
	wrong := rules.ValidateHead(alert.HeadOf(next))
	more, err := s.kind.check(ctx, former, next, now)
	if err != nil {
		return err
	}
	return apperror.Invalid(once(append(wrong, more...)))
}

// once keeps the first of the faults of each field.
func once(fields []apperror.Field) (out []apperror.Field) {
	seen := map[string]bool{}
	for _, f := range fields {
		if !seen[f.Field] {
			seen[f.Field] = true
			out = append(out, f)
		}
	}
	return out
}

// Create stores a new one.
func (s *Settings[T, P]) Create(ctx context.Context, v P) (P, error) {
	now := s.deps.Clock.Now().UTC().Truncate(time.Millisecond)
	h := alert.HeadOf(v)
	h.ID, h.Version, h.CreateTime, h.UpdateTime = identity.RandomID(now), 1, now, now
	if err := s.Check(ctx, nil, v); err != nil {
		return nil, err
	}
	if err := s.haveRoom(ctx, h.Group); err != nil {
		return nil, err
	}
	stored, err := s.stored(v)
	if err != nil {
		return nil, err
	}
	return v, s.deps.Settings.AddAlertSetting(ctx, stored)
}

// stored is the stored form of a definition.
func (s *Settings[T, P]) stored(v P) (alert.Setting, error) {
	stored, err := alert.SettingOf[T, P](s.kind.of, v)
	if err == nil && s.kind.seal != nil {
		err = s.kind.seal(v, &stored)
	}
	return stored, err
}

// groupShare: one group may hold this part of what there may be of a kind.
const groupShare = 4

// haveRoom refuses to keep more than the bound. Calls at the same moment may pass it
// together, and the bound is far below what is dangerous.
func (s *Settings[T, P]) haveRoom(ctx context.Context, group string) error {
	n, err := s.deps.Settings.CountAlertSettings(ctx, s.kind.of)
	if err == nil && n >= s.kind.most && s.kind.room != nil {
		if err = s.kind.room(ctx); err == nil {
			n, err = s.deps.Settings.CountAlertSettings(ctx, s.kind.of)
		}
	}
	if err == nil && n >= s.kind.most {
		return apperror.Conflict("too_many", "there are %d already, which is the most: delete one that nobody needs", n)
	}
	if err != nil || group == "" || n < s.mostOfGroup() {
		return err
	}
	return s.groupHasRoom(ctx, group)
}

// mostOfGroup is how many there may be of one group: who writes those of one group must
// not be able to take the room of all others.
func (s *Settings[T, P]) mostOfGroup() int { return s.kind.most / groupShare }

func (s *Settings[T, P]) groupHasRoom(ctx context.Context, group string) error {
	n, err := s.countOf(ctx, group)
	if err == nil && n >= s.mostOfGroup() && s.kind.room != nil {
		if err = s.kind.room(ctx); err == nil {
			n, err = s.countOf(ctx, group)
		}
	}
	if err == nil && n >= s.mostOfGroup() {
		return apperror.Conflict("too_many",
			"the group %s has %d already, which is the most of one group: delete one that nobody needs", group, n)
	}
	return err
}

func (s *Settings[T, P]) countOf(ctx context.Context, group string) (n int, err error) {
	all, err := s.deps.Settings.AlertSettings(ctx, []alert.Kind{s.kind.of}, s.kind.most)
	for _, one := range all {
		if one.Group == group {
			n++
		}
	}
	return n, err
}

// Replace stores the version after the one that was read; apperror.KindConflict when the
// stored one is another.
func (s *Settings[T, P]) Replace(ctx context.Context, former, next P, version int) (P, error) {
	was, h := alert.HeadOf(former), alert.HeadOf(next)
	h.ID, h.Version, h.CreateTime = was.ID, version+1, was.CreateTime
	h.UpdateTime = s.deps.Clock.Now().UTC().Truncate(time.Millisecond)
	if err := s.Check(ctx, former, next); err != nil {
		return nil, err
	}
	stored, err := s.stored(next)
	if err != nil {
		return nil, err
	}
	return next, s.deps.Settings.ReplaceAlertSetting(ctx, stored)
}

// Delete removes one that nothing else names; else it is apperror.KindConflict.
func (s *Settings[T, P]) Delete(ctx context.Context, v P) error {
	if s.kind.lasts != nil {
		if err := s.kind.lasts(v); err != nil {
			return err
		}
	}
	h := alert.HeadOf(v)
	if err := Unused(ctx, s.deps.Settings, s.kind.of, h.ID); err != nil {
		return err
	}
	if err := s.deps.Settings.DropAlertSetting(ctx, s.kind.of, h.ID, h.Version); err != nil {
		return fmt.Errorf("delete the %s: %w", s.kind.of.Noun(), err)
	}
	return nil
}
