package secret

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// NotAllowed says which secrets a definition names that are not for the jobs of its group.
// A name of no secret is no error: a user may create the secret before the job runs.
func NotAllowed(known map[string]entity.Secret, job *entity.Job) []apperror.Field {
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
		Message: fmt.Sprintf("names %s, which jobs of the group %s may not use; name other secrets, or have the group "+
			"added to these", strings.Join(foreign, ", "), job.Group),
	}}
}

// NamedBy looks the secrets up that definitions name; none costs nothing.
func NamedBy(ctx context.Context, secrets *SecretService, jobs ...*entity.Job,
) (map[string]entity.Secret, error) {
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
