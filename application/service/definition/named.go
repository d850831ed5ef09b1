package definition

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// namer puts names in the place of ids.
type namer struct {
	names map[place]string
	users repository.Users
	jobs  alerting.JobLookup
}

func (s *DefinitionService) namerOf(b *book) namer {
	n := namer{names: map[place]string{}, users: s.settings.Users(), jobs: b}
	for at, of := range b.known {
		n.names[place{at.Kind, of.id}] = at.name
	}
	for _, c := range b.rest {
		h := alert.HeadOf(c.Before)
		n.names[place{c.Kind, h.ID}] = h.Name
	}
	return n
}

// lookUp finds the names of users and jobs that settings name, and are not known yet.
func (n namer) lookUp(ctx context.Context, settings []alert.Headed) error {
	var ids []string
	for _, v := range settings {
		for _, r := range v.References() {
			switch at := (place{r.To, *r.ID}); {
			case n.names[at] != "":
			case r.To == alert.NamedJob:
				ids = append(ids, *r.ID)
			case r.To == alert.NamedUser:
				user, err := n.users.UserByID(ctx, *r.ID)
				if err != nil && !apperror.Is(err, apperror.KindNotFound) {
					return fmt.Errorf("look up a user that a setting names: %w", err)
				}
				n.names[at] = user.Name
			}
		}
	}
	found, err := n.jobs.AlertJobs(ctx, ids)
	for id, job := range found {
		if !job.Deleted {
			n.names[place{alert.NamedJob, id}] = repository.JobName{Group: job.Group, Name: job.Name}.String()
		}
	}
	return err
}

// named is a copy of a setting with names in the place of ids. Ids of what is gone stay; whole is false then.
func (n namer) named(kind alert.Kind, of checker, v alert.Headed) (out alert.Headed, whole bool, err error) {
	text, err := of.Document(v)
	if err != nil {
		return nil, false, err
	}
	if out, err = alert.ReadAny(alert.Setting{Head: *alert.HeadOf(v), Kind: kind, Document: text}); err != nil {
		return nil, false, err
	}
	whole = true
	for _, r := range out.References() {
		if name := n.names[place{r.To, *r.ID}]; name != "" {
			*r.ID = name
		} else {
			whole = false
		}
	}
	return out, whole, nil
}

// show fills in what people see of the changes of settings: names, not ids.
func (s *DefinitionService) show(ctx context.Context, b *book, changes []SettingChange) error {
	n, all := s.namerOf(b), []alert.Headed{}
	for _, c := range changes {
		if c.Action == ActionUpdate {
			all = append(all, c.Before, c.After)
		}
	}
	if err := n.lookUp(ctx, all); err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.Action != ActionUpdate {
			continue
		}
		of := s.settings.Of(c.Kind)
		for at, v := range []alert.Headed{c.Before, c.After} {
			shown, _, err := n.named(c.Kind, of, v)
			if err != nil {
				return err
			}
			c.Shown[at] = shown
		}
	}
	return nil
}

// Settings are the settings of some groups as a document holds them; nil is all groups and those for all groups. The
// caller says which it may have. left names those that a document cannot hold, because what they name is gone.
func (s *DefinitionService) Settings(ctx context.Context, groups []string, may func(kind alert.Kind, group string) bool,
) (out []Setting, left []string, err error) {
	b, err := s.bookOf(ctx, Document{}, false)
	if err != nil {
		return nil, nil, err
	}
	n, all := s.namerOf(b), []alert.Headed{}
	var kept []alert.Setting
	for _, kind := range SettingKinds() {
		for _, one := range b.stored {
			if one.Kind != kind || !may(kind, one.Group) || groups != nil && !slices.Contains(groups, one.Group) {
				continue
			}
			v, err := alert.ReadAny(one)
			if err != nil {
				left = append(left, one.Kind.Noun()+" "+one.Name)
				continue
			}
			if silence, is := v.(*alert.Silence); is && !silence.To.After(b.now) {
				continue
			}
			kept, all = append(kept, one), append(all, v)
		}
	}
	if err := n.lookUp(ctx, all); err != nil {
		return nil, nil, err
	}
	for i, v := range all {
		kind := kept[i].Kind
		named, whole, err := n.named(kind, s.settings.Of(kind), v)
		if err != nil {
			return nil, nil, err
		}
		if !whole && !withoutGone(named, v) {
			left = append(left, kind.Noun()+" "+kept[i].Name)
			continue
		}
		out = append(out, Setting{Kind: kind, Value: named})
	}
	return out, left, nil
}

// withoutGone takes out of the lists of a setting, whose references are names, what is gone: it has its id there still.
// It is false where nothing would be left of a list, because an empty one means all, or of a field that is no list.
func withoutGone(named, before alert.Headed) bool {
	gone := map[string]bool{}
	now := named.References()
	for i, r := range before.References() {
		if *now[i].ID == *r.ID {
			gone[*r.ID] = true
		}
	}
	drop := func(list []string) []string {
		return slices.DeleteFunc(list, func(id string) bool { return gone[id] })
	}
	switch v := named.(type) {
	case *alert.Rule:
		had := len(v.Scope.JobIDs)
		v.Scope.JobIDs = drop(v.Scope.JobIDs)
		if had > 0 && len(v.Scope.JobIDs) == 0 {
			return false
		}
	case *alert.Team:
		v.Members = drop(v.Members)
	}
	return !slices.ContainsFunc(named.References(), func(r alert.Reference) bool { return gone[*r.ID] })
}
