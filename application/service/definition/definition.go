// Package definition brings jobs in line with documents, and reviews stored
// definitions.
package definition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/jobalert"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// definitionPage is how many jobs are read at once.
const definitionPage = 500

// maxDocumentProblems bounds the wrong fields of one answer; the rest shows when
// these are mended.
const maxDocumentProblems = 100

// Definition is one job of a document.
type Definition struct {
	Job *entity.Job
	// Path is its place in the document; empty is that of the list jobs.
	Path string
	// Top: the steps of a workflow stand beside its other fields, and not in jobData.
	Top bool
	// Enabled is nil where the document does not say: a new job is enabled, one
	// that exists stays as it is.
	Enabled *bool
	// Wrong are its wrong fields. Past are those that matter only to a job that
	// shall be planned by this schedule anew: it names no time to come.
	Wrong, Past []apperror.Field
}

// Document is definitions as they stand in files.
type Document struct {
	// Wrong are wrong fields of the document itself.
	Wrong []apperror.Field
	// Groups are settings; of each the name and the bound count.
	Groups []entity.Group
	Jobs   []Definition
	// Settings are those of alerting, and Kinds the kinds that the document lists, even if a list is empty.
	Settings []Setting
	Kinds    []alert.Kind
}

func nameOf(j *entity.Job) repository.JobName {
	return repository.JobName{Group: j.Group, Name: j.Name}
}

// place is that of a job in the document.
func (d Document) place(i int) string {
	return cmp.Or(d.Jobs[i].Path, fmt.Sprintf("jobs[%d]", i))
}

// at is a field of the job as it stands in the document.
func (d Definition) at(place, field string) string {
	if d.Top {
		field = strings.TrimPrefix(field, validation.DataField+".")
	}
	return place + "." + field
}

// names are the groups that a document speaks of, sorted and never nil.
func (d Document) names() []string {
	out := []string{}
	for _, g := range d.Groups {
		out = append(out, g.Name)
	}
	for _, j := range d.Jobs {
		out = append(out, j.Job.Group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// DefinitionJobs changes jobs, each in a transaction of its own.
type DefinitionJobs interface {
	Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error)
	Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error)
	Pause(ctx context.Context, id string, p entity.Pause) (*entity.Job, error)
	Resume(ctx context.Context, id string) (*entity.Job, error)
	Delete(ctx context.Context, id string, ifMatch int) error
	// NameNext fills in the present names of jobs that follow others.
	NameNext(ctx context.Context, jobs ...*entity.Job) error
	// CheckVoters says which voters of workflows are not there, and will not be made for their group.
	CheckVoters(ctx context.Context, made func(group, team string) bool, jobs ...*entity.Job) (
		map[*entity.Job][]apperror.Field, error)
}

// DefinitionGroups keeps the settings of groups.
type DefinitionGroups interface {
	List(ctx context.Context, names []string, p repository.Page) (groups []entity.Group, next string, err error)
	Get(ctx context.Context, name string) (entity.Group, error)
	Create(ctx context.Context, name string, maxConcurrency int) (entity.Group, error)
	Limit(ctx context.Context, name string, maxConcurrency, version int) (entity.Group, error)
}

// DefinitionService brings the jobs of a store in line with a document, and gives them out
// as one. Jobs are known by group and name. Safe for concurrent use. Apply does not
// overwrite what another caller changed after Plan.
type DefinitionService struct {
	reader   repository.Definitions
	jobs     DefinitionJobs
	groups   DefinitionGroups
	secrets  *secret.SecretService
	settings alerting.Services
	// declaring has a place for each declaration under way.
	declaring chan struct{}
}

// NewDefinitionService wires the parts. secrets and channels tell which of them
// definitions may name; nil is all.
func NewDefinitionService(reader repository.Definitions, jobs DefinitionJobs, groups DefinitionGroups,
	secrets *secret.SecretService, settings alerting.Services,
) *DefinitionService {
	return &DefinitionService{
		reader: reader, jobs: jobs, groups: groups, secrets: secrets, settings: settings,
		declaring: make(chan struct{}, declarationsAtOnce),
	}
}

// Groups are the settings of the named groups by name; nil is all.
func (s *DefinitionService) Groups(ctx context.Context, names []string) ([]entity.Group, error) {
	var out []entity.Group
	page := repository.Page{Limit: definitionPage}
	for {
		groups, next, err := s.groups.List(ctx, names, page)
		if err != nil {
			return nil, err
		}
		out = append(out, groups...)
		if next == "" {
			return out, nil
		}
		page.Cursor = next
	}
}

// Jobs hands out the jobs of the named groups, nil is all, ordered by group and
// name, a page at a time. The pages are not one moment: what changes meanwhile
// may be in the old state or the new.
func (s *DefinitionService) Jobs(ctx context.Context, names []string, each func([]*entity.Job) error) error {
	if names == nil {
		return s.jobsOf(ctx, "", each)
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name == entity.AllJobs {
			continue // no group of jobs is named so
		}
		if err := s.jobsOf(ctx, name, each); err != nil {
			return err
		}
	}
	return nil
}

func (s *DefinitionService) jobsOf(ctx context.Context, group string, each func([]*entity.Job) error) error {
	page := repository.Page{Limit: definitionPage}
	for {
		jobs, next, err := s.reader.JobsByName(ctx, group, page)
		if err != nil {
			return err
		}
		if err := s.jobs.NameNext(ctx, jobs...); err != nil {
			return err
		}
		if err := each(jobs); err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		page.Cursor = next
	}
}

// Plan finds what a document changes, and changes nothing. One error lists everything that
// is wrong with it. With prune it also plans to delete the jobs that the document leaves
// out, in its groups.
func (s *DefinitionService) Plan(ctx context.Context, d Document, prune bool) (*Plan, error) {
	var names []repository.JobName
	var jobs []*entity.Job
	for _, j := range d.Jobs {
		if len(j.Wrong) == 0 {
			names = append(names, nameOf(j.Job))
			jobs = append(jobs, j.Job)
		}
	}
	present, err := s.reader.JobsNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	secrets, err := secret.NamedBy(ctx, s.secrets, jobs...)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	wrong := slices.Clone(d.Wrong)
	known := s.settings.Store()
	var makes func(group, team string) bool
	if len(d.Kinds) > 0 {
		b, err := s.bookOf(ctx, d, prune)
		if err != nil {
			return nil, err
		}
		var faults []apperror.Field
		if p.Settings, faults, err = s.planSettings(ctx, d, b); err != nil {
			return nil, err
		}
		known, wrong, p.Made, makes = b, append(wrong, faults...), b.made, b.hasTeam
	}
	channels, err := jobalert.Known(ctx, known, jobs...)
	if err != nil {
		return nil, err
	}
	unknown, err := s.planNext(ctx, d, prune)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, unknown...)
	changes, voters, err := s.planJobs(ctx, d, present, makes)
	if err != nil {
		return nil, err
	}
	for i, j := range d.Jobs {
		wrong = append(append(wrong, j.Wrong...), j.past(present[nameOf(j.Job)])...)
		missing, foreign := split(channels.NotAllowed(j.Job))
		for _, f := range slices.Concat(secret.NotAllowed(secrets, j.Job), foreign, voters[j.Job]) {
			f.Field = j.at(d.place(i), f.Field)
			wrong = append(wrong, f)
		}
		changes[i].Warnings = missing
	}
	if len(wrong) > 0 {
		return nil, apperror.Invalid(wrong[:min(len(wrong), maxDocumentProblems)])
	}
	p.Jobs = changes
	if p.Groups, err = s.planGroups(ctx, d.Groups); err != nil {
		return nil, err
	}
	if prune {
		err = s.planEnds(ctx, d, p)
	}
	return p, err
}

// planJobs compares the jobs of a document with those of the store, in their order, and says which voters of workflows
// are neither there nor made by the document. A workflow that stays as it is may name people who have left since:
// nothing of it is stored.
func (s *DefinitionService) planJobs(ctx context.Context, d Document, present map[repository.JobName]*entity.Job,
	makes func(group, team string) bool,
) ([]JobChange, map[*entity.Job][]apperror.Field, error) {
	changes := make([]JobChange, len(d.Jobs))
	var changed []*entity.Job
	for i, j := range d.Jobs {
		if len(j.Wrong) > 0 {
			continue // the document is refused, and this job may be no more than a name
		}
		changes[i] = planJob(present[nameOf(j.Job)], j)
		if changes[i].Action != ActionUnchanged {
			changed = append(changed, j.Job)
		}
	}
	voters, err := s.jobs.CheckVoters(ctx, makes, changed...)
	return changes, voters, err
}

// split divides channels that are not there from those that a job may not name. A document may name missing channels:
// they work once somebody makes them.
func split(channels []apperror.Field) (missing, foreign []apperror.Field) {
	for _, f := range channels {
		if f.Code == jobalert.Unknown {
			missing = append(missing, f)
		} else {
			foreign = append(foreign, f)
		}
	}
	return missing, foreign
}

// past are the fields that say that a schedule names no time to come. They do not matter
// to a job that keeps its times, nor to a new job without a plan.
func (d Definition) past(old *entity.Job) []apperror.Field {
	if old != nil && old.Schedule.SameTimes(d.Job.Schedule) || old == nil && d.Enabled != nil && !*d.Enabled {
		return nil
	}
	return d.Past
}

func (s *DefinitionService) planGroups(ctx context.Context, groups []entity.Group) ([]GroupChange, error) {
	out := make([]GroupChange, len(groups))
	for i, g := range groups {
		old, err := s.groups.Get(ctx, g.Name)
		out[i] = GroupChange{
			Action: ActionUnchanged, Name: g.Name, Before: old.MaxConcurrency, After: g.MaxConcurrency,
			version: old.Version,
		}
		switch {
		case apperror.Is(err, apperror.KindNotFound):
			out[i].Action = ActionCreate
		case err != nil:
			return nil, err
		case old.MaxConcurrency != g.MaxConcurrency:
			out[i].Action = ActionUpdate
		}
	}
	return out, nil
}

func (s *DefinitionService) planEnds(ctx context.Context, d Document, p *Plan) error {
	named := make(map[repository.JobName]bool, len(d.Jobs))
	for _, j := range d.Jobs {
		named[nameOf(j.Job)] = true
	}
	return s.Jobs(ctx, d.names(), func(jobs []*entity.Job) error {
		for _, j := range jobs {
			if !named[nameOf(j)] {
				p.Jobs = append(p.Jobs, JobChange{Action: ActionDelete, Before: j})
			}
		}
		return nil
	})
}

// errOutOfTime is what is left when a call may work no longer.
var errOutOfTime = apperror.New(apperror.KindUnavailable, "timeout",
	"the call ran out of time before this one; send it again: what is done will be unchanged")

// outOfTime says so of an error that comes of the end of a call.
func outOfTime(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, repository.ErrCommitUnknown) {
		return errOutOfTime
	}
	return err
}
