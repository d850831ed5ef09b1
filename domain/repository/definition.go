package repository

import (
	"context"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// JobName is what people know a job by; it is unique among jobs that exist.
type JobName struct{ Group, Name string }

// ReadJobName reads what a definition of a group says of another job: a plain name is of the same group, others are
// group/name. Names of groups have no slash.
func ReadJobName(group, text string) JobName {
	if of, name, is := strings.Cut(text, "/"); is {
		return JobName{Group: of, Name: name}
	}
	return JobName{Group: group, Name: text}
}

// String is group/name, as people write it.
func (n JobName) String() string { return n.Group + "/" + n.Name }

// Definitions reads committed jobs by what people know them by. Deleted ones
// do not exist for it.
type Definitions interface {
	// JobsByName is ordered by group and name, byte for byte. An empty group
	// is all of them.
	JobsByName(ctx context.Context, group string, p Page) (jobs []*entity.Job, next string, err error)
	// JobsNamed returns those of the names that exist.
	JobsNamed(ctx context.Context, names []JobName) (map[JobName]*entity.Job, error)
}
