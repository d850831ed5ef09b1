package definition

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// ChangeAction is what happens to one object of a document.
type ChangeAction string

// The actions.
const (
	ActionCreate    ChangeAction = "CREATE"
	ActionUpdate    ChangeAction = "UPDATE"
	ActionUnchanged ChangeAction = "UNCHANGED"
	ActionDelete    ChangeAction = "DELETE"
)

// JobChange is what happens to one job. Before is nil for a new job, and After for a job
// that the plan deletes. Both are whole jobs with their present or future state.
type JobChange struct {
	Action        ChangeAction
	Before, After *entity.Job
	// Warnings name the channels of After that are not there yet.
	Warnings []apperror.Field
	// Err says why it did not happen.
	Err     error
	enabled *bool
}

// Job is the job, as it is or will be.
func (c JobChange) Job() *entity.Job {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// GroupChange is what happens to the bound of one group.
type GroupChange struct {
	Action ChangeAction
	Name   string
	// Before and After are the bound on the runs of the group's jobs.
	Before, After int
	// Err says why it did not happen.
	Err     error
	version int
}

// Plan is what a document changes.
type Plan struct {
	Groups []GroupChange
	// Settings are in the order in which they are applied; those that end come last.
	Settings []SettingChange
	// Made are the jobs that the document makes and that settings name, by the ids that stand for them.
	Made map[string]repository.AlertJob
	// Jobs are in the order of the document; those that end come last.
	Jobs []JobChange
}

// planJob compares a definition with the job that has its name, or nil.
func planJob(old *entity.Job, d Definition) JobChange {
	c := JobChange{Action: ActionUpdate, Before: old, enabled: d.Enabled}
	next := *d.Job
	if old == nil {
		c.Action, c.After = ActionCreate, &next
		next.Status = entity.JobEnabled
		if d.Enabled != nil && !*d.Enabled {
			next.Status = entity.JobCreated
		}
		return c
	}
	c.After = old.WithDefinition(&next)
	same := sameDefinition(old, c.After)
	if old.Status == entity.JobFinished && !old.Schedule.SameTimes(c.After.Schedule) {
		c.After.Status = entity.JobEnabled // a new schedule plans it again
	}
	switch {
	case d.Enabled == nil || *d.Enabled == c.After.Enabled() || *d.Enabled && c.After.Status == entity.JobFinished:
	case *d.Enabled:
		c.After.Status = entity.JobEnabled
	case c.After.Status != entity.JobFinished:
		c.After.Status, c.After.PausedBy = entity.JobPaused, entity.PausedByUser
	}
	if same && c.After.Enabled() == old.Enabled() {
		c.Action = ActionUnchanged
	}
	return c
}

// sameDefinition compares what people wrote of two jobs of one id.
func sameDefinition(a, b *entity.Job) bool {
	return reflect.DeepEqual(written(a), written(b)) && sameData(plainData(a), plainData(b))
}

// written is a job with nothing but what people wrote, but for its data.
func written(j *entity.Job) entity.Job {
	w := *(&entity.Job{}).WithDefinition(j)
	w.Data, w.UpdateTime = "", time.Time{}
	if len(w.Labels) == 0 {
		w.Labels = nil
	}
	if len(w.Routing.Labels) == 0 {
		w.Routing.Labels = nil
	}
	if len(w.Retry.NoRetryOn) == 0 {
		w.Retry.NoRetryOn = nil
	}
	w.Alerts.Plain()
	w.Parameters = plainParameters(w.Parameters)
	w.Next = plainNext(w.Next)
	return w
}

// plainData are the data of a job; the names that steps of a workflow give are ids alone, where these are known.
func plainData(j *entity.Job) string {
	named := chain.NamesOf(j)
	if !slices.ContainsFunc(named, func(n chain.Named) bool { return n.Step && n.ID != "" }) {
		return j.Data
	}
	for i := range named {
		if named[i].ID != "" {
			named[i].Name = ""
		}
	}
	plain := *j
	chain.SetNames(&plain, named)
	return plain.Data
}

// plainNext are jobs that follow by their ids alone, where these are known: names are shown, and change.
func plainNext(all []entity.Next) (plain []entity.Next) {
	for _, n := range all {
		if n.Job != "" {
			n.Name = ""
		}
		if v, err := decoded(string(n.Params)); err == nil {
			n.Params, _ = json.Marshal(v) // what was read from JSON is JSON
		} else {
			n.Params = nil
		}
		plain = append(plain, n)
	}
	return plain
}

// plainParameters are parameters as the store has them: documents make an empty default and an empty list of a
// parameter that has none.
func plainParameters(all []entity.JobParameter) (plain []entity.JobParameter) {
	for _, p := range all {
		if len(p.Default) == 0 {
			p.Default = nil
		}
		if len(p.Values) == 0 {
			p.Values = nil
		}
		plain = append(plain, p)
	}
	return plain
}

// sameData compares JSON objects, whose order and spaces mean nothing.
func sameData(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := decoded(a)
	y, errY := decoded(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// decoded keeps the digits of numbers.
func decoded(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// applyWorkers is how many jobs of one plan are changed at once.
const applyWorkers = 8

// Apply does what was planned, job by job; each says in Err why it could not
// be. A failure does not stop the rest.
func (s *DefinitionService) Apply(ctx context.Context, p *Plan) {
	for i := range p.Groups {
		p.Groups[i].Err = outOfTime(ctx, s.applyGroup(ctx, p.Groups[i]))
	}
	s.applySettings(ctx, p, func(c SettingChange) bool { return !c.needsJobs() && c.Action != ActionDelete })
	s.applyJobs(ctx, p)
	p.nameJobs()
	s.applySettings(ctx, p, func(c SettingChange) bool { return c.needsJobs() || c.Action == ActionDelete })
}

// nameJobs puts the ids of the jobs that are there now in the place of those that stood for them.
func (p *Plan) nameJobs() {
	ids := map[string]string{}
	for _, c := range p.Jobs {
		if c.Action == ActionCreate && c.Err == nil {
			ids[madeID(nameOf(c.After))] = c.After.ID
		}
	}
	for _, c := range p.Settings {
		for _, r := range c.Setting().References() {
			if id := ids[*r.ID]; id != "" {
				*r.ID = id
			}
		}
	}
}

// applySettings applies those that are chosen, one after the other: each may name those before it.
func (s *DefinitionService) applySettings(ctx context.Context, p *Plan, chosen func(c SettingChange) bool) {
	for i := range p.Settings {
		c := &p.Settings[i]
		if c.Action == ActionUnchanged || c.Err != nil || !chosen(*c) {
			continue
		}
		if c.Err = ctx.Err(); c.Err == nil {
			c.Err = s.applySetting(ctx, c)
		}
		c.Err = outOfTime(ctx, c.Err)
	}
}

func (s *DefinitionService) applySetting(ctx context.Context, c *SettingChange) error {
	of := s.settings.Of(c.Kind)
	switch c.Action {
	case ActionCreate:
		return of.Create(ctx, c.After)
	case ActionUpdate:
		return of.Replace(ctx, c.Before, c.After)
	case ActionDelete:
		return of.Delete(ctx, c.Before)
	}
	return nil
}

// applyJobs applies what becomes of jobs, several at once.
func (s *DefinitionService) applyJobs(ctx context.Context, p *Plan) {
	for _, round := range p.rounds() {
		var workers errgroup.Group
		workers.SetLimit(applyWorkers)
		for _, i := range round {
			c := &p.Jobs[i]
			workers.Go(func() error {
				if c.Err = ctx.Err(); c.Err == nil {
					c.Err = s.applyJob(ctx, c)
				}
				c.Err = outOfTime(ctx, c.Err)
				return nil
			})
		}
		_ = workers.Wait() // each change holds its own error
	}
}

func (s *DefinitionService) applyGroup(ctx context.Context, g GroupChange) (err error) {
	switch g.Action {
	case ActionCreate:
		_, err = s.groups.Create(ctx, g.Name, g.After)
	case ActionUpdate:
		_, err = s.groups.Limit(ctx, g.Name, g.After, g.version)
	}
	return err
}

func (s *DefinitionService) applyJob(ctx context.Context, c *JobChange) error {
	var changed *entity.Job
	var err error
	switch c.Action {
	case ActionCreate:
		changed, err = s.jobs.Create(ctx, c.After, c.enabled == nil || *c.enabled)
	case ActionUpdate:
		changed, err = s.update(ctx, c)
	case ActionDelete:
		return s.jobs.Delete(ctx, c.Before.ID, c.Before.Version)
	}
	if err == nil {
		c.After = changed
	}
	return err
}

// update pauses a job before its definition changes and resumes it after. So nothing fires
// by a definition that must not fire.
func (s *DefinitionService) update(ctx context.Context, c *JobChange) (*entity.Job, error) {
	job, err := s.enable(ctx, c.Before, c.enabled, false)
	if err != nil {
		return nil, err
	}
	if !sameDefinition(c.Before, c.After) {
		if job, err = s.jobs.Replace(ctx, job.ID, c.After, job.Version, 0); err != nil {
			return nil, err
		}
	}
	if job, err = s.enable(ctx, job, c.enabled, false); err != nil {
		return nil, err
	}
	return s.enable(ctx, job, c.enabled, true)
}

// enable resumes a job, or pauses it, where that is what is wanted and not yet
// so. One that has fired for the last time stays as it is.
func (s *DefinitionService) enable(ctx context.Context, job *entity.Job, wanted *bool,
	resume bool,
) (*entity.Job, error) {
	if wanted == nil || *wanted != resume || job.Enabled() == resume || job.Status == entity.JobFinished {
		return job, nil
	}
	if resume {
		return s.jobs.Resume(ctx, job.ID)
	}
	return s.jobs.Pause(ctx, job.ID, entity.Pause{})
}
