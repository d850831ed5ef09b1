package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// KnownSecrets tells which secrets there are, and for whose jobs.
type KnownSecrets interface {
	// Known are those of the names that exist, by name, without their values.
	Known(ctx context.Context, names []string) (map[string]entity.Secret, error)
}

// missingSecrets says which secrets a definition names that are not for the jobs
// of its group. What it names and does not exist is no fault: it may be made
// before the job runs.
func missingSecrets(known map[string]entity.Secret, job *entity.Job) []apperror.Field {
	var foreign []string
	for _, name := range placeholder.SecretNames(job.Data) {
		if secret, exists := known[name]; exists && !secret.For(job.Group) {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return []apperror.Field{{
		Field: "jobData", Code: "secret_not_allowed",
		Message: fmt.Sprintf("names %s, which jobs of the group %s may not use; name other secrets, or have the group added to these", strings.Join(foreign, ", "), job.Group),
	}}
}

// secretsOf looks the secrets up that definitions name; none costs nothing.
func secretsOf(ctx context.Context, secrets KnownSecrets, jobs ...*entity.Job) (map[string]entity.Secret, error) {
	var names []string
	for _, job := range jobs {
		names = append(names, placeholder.SecretNames(job.Data)...)
	}
	if len(names) == 0 || secrets == nil {
		return nil, nil
	}
	known, err := secrets.Known(ctx, slices.Compact(slices.Sorted(slices.Values(names))))
	if err != nil {
		return nil, fmt.Errorf("look up the secrets that definitions name: %w", err)
	}
	return known, nil
}

// checkSecrets says which secrets a definition may not name.
func (s *JobService) checkSecrets(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	known, err := secretsOf(ctx, s.Secrets, job)
	return missingSecrets(known, job), err
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
