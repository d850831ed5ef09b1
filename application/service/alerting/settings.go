package alerting

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Deps are the parts of the services of what people define.
type Deps struct {
	Settings repository.AlertSettings
	Users    repository.Users
	Jobs     repository.Definitions
	Groups   repository.Groups
	Alerts   repository.Alerts
	// Suspensions are the rules that do nothing for some time.
	Suspensions repository.RuleSuspensions
	// Expressions compiles what rules of type EXPRESSION say.
	Expressions rules.Expressions
	Clock       clock.StoreClock
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
	// reaches reports whether next may tell of an alert that former, which may be nil, did not; nil is
	// never.
	reaches func(ctx context.Context, former, next P) func(a *alert.Alert) bool
	// show fills in what is shown of stored ones and is no part of them; may be nil.
	show func(ctx context.Context, all []P) error
	// warn fills in why one works less than it seems to, where it stands alone; may be nil.
	warn func(ctx context.Context, v P) error
}

// Settings manages one kind of what people define: rules, silences, routes, teams,
// contacts or on-call plans. Safe for concurrent use.
type Settings[T any, P alert.Defined[T]] struct {
	deps Deps
	kind kind[P]
}

// List is a page by name. Groups are those whose settings may be seen, beside those of all
// groups; nil is all. One that cannot be read is left out, as it must not hide the others (engine rule 10).
func (s *Settings[T, P]) List(ctx context.Context, groups []string, p repository.Page) ([]P, string, error) {
	found, next, err := s.deps.Settings.ListAlertSettings(ctx, s.kind.of, groups, p)
	if err != nil {
		return nil, "", err
	}
	out := make([]P, 0, len(found))
	for _, one := range found {
		if v, err := alert.Read[T, P](one); err == nil {
			out = append(out, v)
		}
	}
	return out, next, s.show(ctx, out...)
}

func (s *Settings[T, P]) show(ctx context.Context, all ...P) error {
	if s.kind.show == nil || len(all) == 0 {
		return nil
	}
	return s.kind.show(ctx, all)
}

// Get returns apperror.KindNotFound for an unknown id, and apperror.KindConflict for one that cannot be read.
func (s *Settings[T, P]) Get(ctx context.Context, id string) (P, error) {
	found, err := s.deps.Settings.AlertSetting(ctx, s.kind.of, id)
	if err != nil {
		return nil, err
	}
	v, unreadable := alert.Read[T, P](found)
	if unreadable != nil {
		return nil, apperror.Conflict("unreadable", "what the store holds of the %s %q cannot be read: mend its row there",
			s.kind.of.Noun(), found.Name)
	}
	if err := s.show(ctx, v); err != nil {
		return nil, err
	}
	return v, s.warn(ctx, v)
}

func (s *Settings[T, P]) warn(ctx context.Context, v P) error {
	if s.kind.warn == nil {
		return nil
	}
	return s.kind.warn(ctx, v)
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

// Create stores a new one. It keeps an id that the setting has: settings of a document name each other before they
// are stored.
func (s *Settings[T, P]) Create(ctx context.Context, v P) (P, error) {
	now := s.deps.Clock.Now().UTC().Truncate(time.Millisecond)
	h := alert.HeadOf(v)
	h.ID, h.Version, h.CreateTime, h.UpdateTime = cmp.Or(h.ID, identity.RandomID(now)), 1, now, now
	if err := s.Check(ctx, nil, v); err != nil {
		return nil, err
	}
	if err := s.haveRoom(ctx, h.Group); err != nil {
		return nil, err
	}
	if err := s.warn(ctx, v); err != nil {
		return nil, err
	}
	stored, err := s.stored(v)
	if err != nil {
		return nil, err
	}
	if err := s.deps.Settings.AddAlertSetting(ctx, stored); err != nil {
		return v, err
	}
	s.tellOpen(ctx, nil, v)
	return v, nil
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
// together, and the bound is far below what is dangerous. The users of one group must not be
// able to take the room of all others.
func (s *Settings[T, P]) haveRoom(ctx context.Context, group string) error {
	share := s.kind.most / groupShare
	n, err := s.counted(ctx, s.kind.most, func() (int, error) {
		return s.deps.Settings.CountAlertSettings(ctx, s.kind.of)
	})
	switch {
	case err != nil:
		return err
	case n >= s.kind.most:
		return apperror.Conflict("too_many", "there are %d already, which is the most: delete one that nobody needs", n)
	case group == "" || n < share:
		return nil
	}
	n, err = s.counted(ctx, share, func() (int, error) { return s.countOf(ctx, group) })
	if err == nil && n >= share {
		return apperror.Conflict("too_many",
			"the group %s has %d already, which is the most of one group: delete one that nobody needs", group, n)
	}
	return err
}

// counted counts again after it has made room, where there are too many.
func (s *Settings[T, P]) counted(ctx context.Context, most int, count func() (int, error)) (int, error) {
	n, err := count()
	if err != nil || n < most || s.kind.room == nil {
		return n, err
	}
	if err := s.kind.room(ctx); err != nil {
		return n, err
	}
	return count()
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
	if err := s.show(ctx, next); err != nil {
		return nil, err
	}
	if err := s.warn(ctx, next); err != nil {
		return nil, err
	}
	if err := s.deps.Settings.ReplaceAlertSetting(ctx, stored); err != nil {
		return next, err
	}
	s.tellOpen(ctx, former, next)
	return next, nil
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
