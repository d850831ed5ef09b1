package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/jobalert"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// checkNames says which secrets, channels and jobs a definition may not name, and puts the ids of the jobs in.
func (s *JobService) checkNames(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	wrong, err := s.checkSecrets(ctx, job)
	if err != nil {
		return nil, err
	}
	next, err := s.resolveNames(ctx, job)
	if err != nil {
		return nil, err
	}
	channels, err := jobalert.Known(ctx, s.Channels, job)
	if err != nil {
		return nil, err
	}
	voters, err := s.CheckVoters(ctx, nil, job)
	if err != nil {
		return nil, err
	}
	workers, err := s.checkWorkers(ctx, job)
	return slices.Concat(wrong, channels.NotAllowed(job), workers, next, checkNext(job), voters[job]), err
}

// CheckVoters says which users and teams the approvals of workflows name that are not there. made reports whether a
// team will be there for a group by then; nil is none.
func (s *JobService) CheckVoters(ctx context.Context, made func(group, team string) bool, jobs ...*entity.Job) (
	map[*entity.Job][]apperror.Field, error,
) {
	wrong := map[*entity.Job][]apperror.Field{}
	if s.Electorate == nil {
		return wrong, nil
	}
	check := s.Electorate.NewCheck(ctx, made)
	for _, job := range jobs {
		if job.Type != entity.JobWorkflow || !strings.Contains(job.Data, `"approval"`) {
			continue
		}
		d, err := wf.Of(job)
		if err != nil {
			continue // the check of the steps has said so
		}
		for i := range d.Steps {
			if a := d.Steps[i].Approval; a != nil {
				for _, f := range check.Voters(job.Group, a) {
					f.Field = fmt.Sprintf("jobData.steps[%d].approval.%s", i, f.Field)
					wrong[job] = append(wrong[job], f)
				}
			}
		}
	}
	return wrong, check.Err()
}

// CheckNames says which secrets, channels, worker groups and jobs a definition names that it may not name, or that are
// not there. The definition stays as it is.
func (s *JobService) CheckNames(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	return s.checkNames(ctx, ownCopy(job))
}

// ForDocuments is a service that also stores definitions whose channels are not there yet, so that a
// document comes into an empty server. The plan of the document has refused channels of other
// groups, and it warns of those that are missing.
func (s *JobService) ForDocuments() *JobService {
	d := s.JobDeps
	d.Channels = nil
	return NewJobService(d)
}

// ChannelWarnings says which channels a stored job names that are not there any more:
// they were deleted or renamed since, and nobody is told by them.
func (s *JobService) ChannelWarnings(ctx context.Context, job *entity.Job) []apperror.Field {
	channels, err := jobalert.Known(ctx, s.Channels, job)
	if err != nil {
		return nil // a warning is a courtesy
	}
	return channels.NotAllowed(job)
}

// CheckDraft says what is wrong with a definition that is not stored, and with params for a run of
// it. It fills the defaults in, and returns the params in their declared types. The schedule need
// not name a time to come.
func (s *JobService) CheckDraft(ctx context.Context, job *entity.Job, given string) (params string, err error) {
	wrong := withoutPast(s.findings(job, s.Clock.Now()))
	foreign, err := s.checkNames(ctx, job)
	if err != nil {
		return "", err
	}
	params, undeclared := validation.Params(job, given)
	return params, apperror.Invalid(slices.Concat(wrong, foreign, undeclared))
}

// checkSecrets says which secrets a definition may not name.
func (s *JobService) checkSecrets(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	known, err := secret.NamedBy(ctx, s.Secrets, job)
	return secret.NotAllowed(known, job), err
}

// permitTrigger refuses to run a job that names secrets which are not for its
// group, and params that it does not declare; it returns them in their declared types.
// Jobs that name no secrets, and are known here, cost no look at the store.
func (s *JobService) permitTrigger(ctx context.Context, id, given string) (params string, err error) {
	var job *entity.Job
	if s.Latest != nil {
		job = s.Latest(id)
	}
	if job == nil {
		if job, err = s.Jobs.Get(ctx, id); err != nil {
			return "", err
		}
	}
	params, wrong := validation.Params(job, given)
	if s.Secrets != nil {
		secrets, err := s.checkSecrets(ctx, job)
		if err != nil {
			return "", err
		}
		wrong = append(wrong, secrets...)
	}
	return params, apperror.Invalid(wrong)
}
