package definition

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// place is how a document names an object: by its kind and its name.
type place struct {
	alert.Kind
	name string
}

// object is what a name stands for. The group is that of a setting; empty is all groups.
type object struct{ id, group string }

type store = repository.AlertSettings

// book is the store as it will be when the document is applied: what it names has an id already. It stands in the
// place of the store while settings are checked, and nothing is written through it.
type book struct {
	store
	jobs  alerting.JobLookup
	now   time.Time
	prune bool
	// stored and planned are the settings that there are and that the document makes.
	stored, planned []alert.Setting
	byName          map[place]alert.Setting
	// given are the settings of the document.
	given map[place]bool
	// rest are the deletions of a document that prunes; they are not stored any more. dropped are their names.
	rest    []SettingChange
	dropped map[place]bool
	// known is everything that the document may name, also users and jobs.
	known map[place]object
	// made are the jobs that the document makes, by the ids that stand for them until they are there.
	made map[string]repository.AlertJob
}

// bookOf reads what there is, and notes what the document makes.
func (s *DefinitionService) bookOf(ctx context.Context, d Document, prune bool) (*book, error) {
	b := &book{
		prune: prune, store: s.settings.Store(), jobs: s.settings.Jobs(), now: s.settings.Now().UTC(),
		byName: map[place]alert.Setting{}, given: map[place]bool{}, dropped: map[place]bool{},
		known: map[place]object{}, made: map[string]repository.AlertJob{},
	}
	for _, given := range d.Settings {
		b.given[place{given.Kind, alert.HeadOf(given.Value).Name}] = true
	}
	var err error
	if b.stored, err = b.store.AlertSettings(ctx, alert.Kinds(), bounds.Settings); err != nil {
		return nil, fmt.Errorf("read the settings of alerting: %w", err)
	}
	if prune {
		b.takeRest(d)
		b.keepUsed()
	}
	for _, one := range b.stored {
		at := place{one.Kind, one.Name}
		b.byName[at], b.known[at] = one, object{one.ID, one.Group}
	}
	for _, given := range d.Settings {
		h := alert.HeadOf(given.Value)
		at := place{given.Kind, h.Name}
		if _, known := b.byName[at]; !known && h.Name != "" {
			b.known[at] = object{identity.RandomID(b.now), h.Group}
			head := alert.Head{ID: b.known[at].id, Name: h.Name, Group: h.Group}
			b.planned = append(b.planned, alert.Setting{Head: head, Kind: given.Kind, Document: "{}"})
		}
	}
	return b, s.findNamed(ctx, d, b)
}

// findNamed finds the users and the jobs that settings of the document name.
func (s *DefinitionService) findNamed(ctx context.Context, d Document, b *book) error {
	jobs, asked := map[repository.JobName]bool{}, map[string]bool{}
	for _, given := range d.Settings {
		named := given.Value.References()
		if len(named) > maxNamed {
			continue // a list is too long, and the setting is refused for it
		}
		for _, r := range named {
			switch r.To {
			case alert.NamedJob:
				if name, is := jobName(*r.ID); is {
					jobs[name] = true
				}
			case alert.NamedUser:
				if asked[*r.ID] {
					continue
				}
				asked[*r.ID] = true
				user, err := s.settings.Users().UserByName(ctx, *r.ID)
				if err != nil && !apperror.Is(err, apperror.KindNotFound) {
					return fmt.Errorf("look up the user that a setting names: %w", err)
				}
				if err == nil {
					b.known[place{r.To, *r.ID}] = object{id: user.ID}
				}
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	present, err := s.reader.JobsNamed(ctx, slices.Collect(maps.Keys(jobs)))
	if err != nil {
		return err
	}
	ofDocument := make(map[repository.JobName]bool, len(d.Jobs))
	for _, j := range d.Jobs {
		name := nameOf(j.Job)
		ofDocument[name] = true
		if present[name] == nil && jobs[name] {
			id := madeID(name)
			b.known[place{alert.NamedJob, name.String()}] = object{id: id}
			b.made[id] = repository.AlertJob{ID: id, Name: name.Name, Group: name.Group}
		}
	}
	groups := d.names()
	for name, job := range present {
		ends := b.prune && !ofDocument[name] && slices.Contains(groups, name.Group)
		if !ends {
			b.known[place{alert.NamedJob, name.String()}] = object{id: job.ID}
		}
	}
	return nil
}

// maxNamed is how many others one setting may name: a rule has the most.
const maxNamed = bounds.ScopeJobs + bounds.List + bounds.Actions

// jobName reads a group, a slash and a name. Names of groups have no slashes.
func jobName(text string) (name repository.JobName, is bool) {
	if len(text) > 8*validation.MaxName {
		return name, false
	}
	name.Group, name.Name, is = strings.Cut(text, "/")
	return name, is && name.Group != "" && name.Name != ""
}

// find finds an object by its name for a setting of a group. An object that the setting may not name is not there.
func (b *book) find(at place, group string) (id string, there bool) {
	found, known := b.known[at]
	return found.id, known && (group == "" || found.group == "" || found.group == group)
}

// hasTeam reports whether a team of that name is there, for a group of jobs, once the document is applied.
func (b *book) hasTeam(group, name string) bool {
	_, there := b.find(place{alert.KindTeam, name}, group)
	return there
}

// resolve puts ids in the place of names, and says which names are those of nothing. An id that the stored setting
// names stays: what it was of may be deleted.
func (b *book) resolve(given Setting, before alert.Headed) (wrong []apperror.Field) {
	had := map[place]bool{}
	if before != nil {
		for _, r := range before.References() {
			had[place{r.To, *r.ID}] = true
		}
	}
	for _, r := range given.Value.References() {
		at := place{r.To, *r.ID}
		if id, there := b.find(at, alert.HeadOf(given.Value).Group); there {
			*r.ID = id
			continue
		}
		if had[at] {
			continue
		}
		f := apperror.Field{Field: given.Path + "." + r.Field, Code: "unknown_name"}
		shown := validation.Text(*r.ID, 2*validation.MaxName)
		switch {
		case b.dropped[at]:
			f.Message = fmt.Sprintf("the document does not have the %s %q, and prune would delete it", r.To.Noun(), shown)
		case r.To == alert.NamedUser:
			f.Code, f.Message = "unknown_user", fmt.Sprintf("there is no user %q; make it first, or take it out", shown)
		case r.To == alert.NamedJob:
			f.Code = "unknown_job"
			f.Message = "is no job that you may see: write its group, a slash and its name"
		default:
			f.Message = fmt.Sprintf("there is no %s %q here or in the document", r.To.Noun(), shown)
		}
		wrong = append(wrong, f)
	}
	return wrong
}

// AlertSettings implements repository.AlertSettings.
func (b *book) AlertSettings(_ context.Context, kinds []alert.Kind, _ int) (out []alert.Setting, err error) {
	for _, one := range slices.Concat(b.stored, b.planned) {
		if slices.Contains(kinds, one.Kind) {
			out = append(out, one)
		}
	}
	return out, nil
}

// AlertJobs implements alerting.JobLookup.
func (b *book) AlertJobs(ctx context.Context, ids []string) (map[string]repository.AlertJob, error) {
	there := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return b.made[id].ID != "" })
	found, err := b.jobs.AlertJobs(ctx, there)
	if err != nil {
		return nil, err
	}
	found = maps.Clone(found)
	for _, id := range ids {
		if made := b.made[id]; made.ID != "" {
			found[id] = made
		}
	}
	return found, nil
}

// keepUsed keeps a setting from being deleted that another one names which the document leaves as it is.
func (b *book) keepUsed() {
	byID := make(map[place]*SettingChange, len(b.rest))
	for i := range b.rest {
		byID[place{b.rest[i].Kind, alert.HeadOf(b.rest[i].Before).ID}] = &b.rest[i]
	}
	for _, one := range b.stored {
		v := readable(one)
		if v == nil || b.given[place{one.Kind, one.Name}] {
			continue
		}
		for _, r := range v.References() {
			if c := byID[place{r.To, *r.ID}]; c != nil {
				c.Err = apperror.Conflict("in_use", "the %s %q names it: take it out there first", one.Kind.Noun(), one.Name)
			}
		}
	}
}

// takeRest takes the deletions of a document that prunes out of what is stored: of the kinds that it lists, in the
// groups that it names. Settings for all groups belong to it where one of its settings is for all groups. Rules of
// the first start and settings that cannot be read stay, and silences that are over go by themselves.
func (b *book) takeRest(d Document) {
	groups := map[string]bool{}
	for _, name := range d.names() {
		groups[name] = true
	}
	for _, given := range d.Settings {
		groups[alert.HeadOf(given.Value).Group] = true
	}
	b.stored = slices.DeleteFunc(b.stored, func(one alert.Setting) bool {
		at := place{one.Kind, one.Name}
		if !slices.Contains(d.Kinds, one.Kind) || !groups[one.Group] || b.given[at] {
			return false
		}
		v := readable(one)
		rule, isRule := v.(*alert.Rule)
		silence, isSilence := v.(*alert.Silence)
		if v == nil || isRule && rule.Default != "" || isSilence && !silence.To.After(b.now) {
			return false
		}
		b.rest, b.dropped[at] = append(b.rest, SettingChange{Action: ActionDelete, Kind: one.Kind, Before: v}), true
		return true
	})
	order := SettingKinds()
	slices.SortStableFunc(b.rest, func(x, y SettingChange) int { // what names others goes before these
		return slices.Index(order, y.Kind) - slices.Index(order, x.Kind)
	})
}

// madeID stands for the id of a job until the document has made it.
func madeID(name repository.JobName) string { return "document " + name.String() }
