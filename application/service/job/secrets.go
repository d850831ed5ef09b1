package job

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// checkSecrets says which secrets a definition may not name.
func (s *JobService) checkSecrets(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	known, err := secret.NamedBy(ctx, s.Secrets, job)
	return secret.NotAllowed(known, job), err
}

// permitTrigger refuses to run a job that names secrets which are not for its
// group. Jobs that name none, and are known here, cost no look at the store.
func (s *JobService) permitTrigger(ctx context.Context, id string) error {
	if s.Secrets == nil {
		return nil
	}
	var job *entity.Job
	if s.Latest != nil {
		job = s.Latest(id)
	}
	if job == nil {
		var err error
		if job, err = s.Jobs.Get(ctx, id); err != nil {
			return err
		}
	}
	wrong, err := s.checkSecrets(ctx, job)
	if err != nil {
		return err
	}
	return apperror.Invalid(wrong)
}
