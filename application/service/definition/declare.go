package definition

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/jobalert"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Outcome is what became of a job that a program has declared.
type Outcome string

// The outcomes.
const (
	OutcomeCreated Outcome = "CREATED"
	// OutcomeExists is a job that is there and says the same, OutcomeDiffers one that says something else.
	OutcomeExists  Outcome = "EXISTS"
	OutcomeDiffers Outcome = "DIFFERS"
	OutcomeRefused Outcome = "REFUSED"
)

// declarationsAtOnce bounds the declarations under way at a node.
const declarationsAtOnce = 8

// Declared is a job that a program has declared.
type Declared struct {
	Outcome Outcome
	// Change has the job that is there, and what it would be if it were as declared. Nothing is changed.
	Change JobChange
	// Wrong is what is wrong with one that is refused.
	Wrong []apperror.Field
}

// Declare creates the jobs that are not there, as CREATED: a person lets them fire. A job that is there stays as it is.
// An error ends it; the jobs before it are done, and doing all of it again does the rest.
func (s *DefinitionService) Declare(ctx context.Context, jobs []Definition) ([]Declared, error) {
	select {
	case s.declaring <- struct{}{}:
		defer func() { <-s.declaring }()
	default:
		return nil, &apperror.Error{
			Kind: apperror.KindTooMany, Code: "too_many_declarations", RetryAfterSec: 1,
			Message: fmt.Sprintf("this node takes %d declarations of jobs already, which is the most at once; wait and try "+
				"again", declarationsAtOnce),
		}
	}
	var names []repository.JobName
	var good []*entity.Job
	first := map[repository.JobName]int{}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		d := &jobs[i]
		if at, twice := first[nameOf(d.Job)]; twice {
			d.Wrong = append(d.Wrong, apperror.Field{
				Field: "name", Code: "duplicate", Message: fmt.Sprintf("is that of jobs[%d] too; declare each job once", at),
			})
		} else {
			first[nameOf(d.Job)] = i
		}
		if len(d.Wrong) == 0 {
			names, good = append(names, nameOf(d.Job)), append(good, d.Job)
		}
	}
	present, err := s.reader.JobsNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	channels, err := jobalert.Known(ctx, s.settings.Store(), good...)
	if err != nil {
		return nil, err
	}
	out := make([]Declared, 0, len(jobs))
	for _, d := range jobs {
		one := Declared{Outcome: OutcomeRefused, Change: JobChange{After: d.Job}, Wrong: d.Wrong}
		if len(one.Wrong) == 0 {
			one.Wrong = channels.NotAllowed(d.Job)
		}
		if len(one.Wrong) == 0 {
			if one, err = s.declare(ctx, d, present[nameOf(d.Job)]); err != nil {
				return out, outOfTime(ctx, err)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// codeNameTaken is the code of a job whose name another one has.
const codeNameTaken = "name_taken"

// declare creates a job, or compares it with the one that is there. Of two callers at once one creates it, and the
// other finds it.
func (s *DefinitionService) declare(ctx context.Context, d Definition, old *entity.Job) (Declared, error) {
	if old == nil {
		made, err := s.jobs.Create(ctx, d.Job, false)
		var f *apperror.Error
		switch {
		case err == nil:
			return Declared{Outcome: OutcomeCreated, Change: JobChange{Action: ActionCreate, After: made}}, nil
		case errors.As(err, &f) && f.Kind == apperror.KindInvalid:
			return Declared{Outcome: OutcomeRefused, Change: JobChange{After: d.Job}, Wrong: f.Fields}, nil
		case !errors.As(err, &f) || f.Code != codeNameTaken:
			return Declared{}, err
		}
		name := nameOf(d.Job)
		present, found := s.reader.JobsNamed(ctx, []repository.JobName{name})
		if found != nil || present[name] == nil { // it came and went
			return Declared{}, errors.Join(found, err)
		}
		old = present[name]
	}
	next := *d.Job
	// Programs declare no chains: those of the job are a person's.
	next.Next = slices.Clone(old.Next)
	change := planJob(old, Definition{Job: &next})
	if change.Action == ActionUnchanged {
		return Declared{Outcome: OutcomeExists, Change: change}, nil
	}
	change.After.Status = old.Status
	return Declared{Outcome: OutcomeDiffers, Change: change}, nil
}
