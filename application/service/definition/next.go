package definition

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// follows finds the jobs that a job of a document names.
func follows(j *entity.Job) []repository.JobName {
	named := chain.NamesOf(j)
	out := make([]repository.JobName, len(named))
	for i, n := range named {
		out[i] = repository.ReadJobName(j.Group, n.Name)
	}
	return out
}

// planNext puts the ids of jobs that are there in the place of their names, and says which names are of nothing, or
// make a circle. Jobs that the document makes have no id yet: they are made before the jobs that name them.
func (s *DefinitionService) planNext(ctx context.Context, d Document, prune bool) (wrong []apperror.Field, err error) {
	ofDocument := map[repository.JobName]*entity.Job{}
	var all []repository.JobName
	for _, j := range d.Jobs {
		ofDocument[nameOf(j.Job)] = j.Job
		all = append(all, follows(j.Job)...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	stored, err := s.reader.JobsNamed(ctx, all)
	if err != nil {
		return nil, err
	}
	groups := d.names()
	for at, j := range d.Jobs {
		named := chain.NamesOf(j.Job)
		for i := range named {
			n, name := &named[i], repository.ReadJobName(j.Job.Group, named[i].Name)
			found := stored[name]
			switch {
			case ofDocument[name] != nil && found == nil: // it is made first
			case found == nil || prune && ofDocument[name] == nil && slices.Contains(groups, name.Group):
				wrong = append(wrong, apperror.Field{
					Field: j.at(d.place(at), n.Field), Code: "unknown_job",
					Message: fmt.Sprintf("there is no job %q here or in the document",
						validation.Text(name.String(), 2*validation.MaxName)),
				})
			default:
				n.ID, n.Name = found.ID, name.String()
			}
		}
		if len(named) > 0 {
			chain.SetNames(j.Job, named)
		}
	}
	return append(wrong, circles(d, ofDocument)...), nil
}

// circles says which jobs of a document start one another in a circle.
func circles(d Document, of map[repository.JobName]*entity.Job) []apperror.Field {
	at, circle := chain.Circle(convert.All(d.Jobs, func(j Definition) repository.JobName { return nameOf(j.Job) }),
		func(name repository.JobName) []repository.JobName {
			if j := of[name]; j != nil {
				return follows(j)
			}
			return nil
		})
	if circle == nil {
		return nil
	}
	return []apperror.Field{{
		Field: d.Jobs[at].at(d.place(at), chain.FieldOf(d.Jobs[at].Job)), Code: "circle",
		Message: chain.Circular(convert.All(circle, func(name repository.JobName) string { return name.Name })),
	}}
}

// rounds are the positions of changes in an order in which each job is made before those that name it.
func (p *Plan) rounds() (rounds [][]int) {
	made := map[repository.JobName]bool{}
	for _, c := range p.Jobs {
		if c.Action == ActionCreate {
			made[nameOf(c.After)] = true
		}
	}
	var waiting []int
	for i, c := range p.Jobs {
		if c.Action != ActionUnchanged {
			waiting = append(waiting, i)
		}
	}
	for len(waiting) > 0 {
		var now, later []int
		for _, i := range waiting {
			c := p.Jobs[i]
			if c.After != nil && slices.ContainsFunc(follows(c.After), func(n repository.JobName) bool { return made[n] }) {
				later = append(later, i)
			} else {
				now = append(now, i)
			}
		}
		if len(now) == 0 { // a circle, which the store refuses
			return append(rounds, later)
		}
		for _, i := range now {
			if c := p.Jobs[i]; c.Action == ActionCreate {
				delete(made, nameOf(c.After))
			}
		}
		rounds, waiting = append(rounds, now), later
	}
	return rounds
}
