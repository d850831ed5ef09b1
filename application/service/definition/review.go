package definition

import (
	"context"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// JobLister lists jobs.
type JobLister interface {
	// List is ordered by id, newest first.
	List(ctx context.Context, f repository.JobFilter, p repository.Page) (jobs []*entity.Job, next string, err error)
}

// Checker checks the executor's part of a definition.
type Checker interface {
	Check(job *entity.Job) []apperror.Field
}

// DefinitionReview finds stored commands that the rules of this version refuse. Their
// runs fail until a user edits them.
type DefinitionReview struct {
	jobs    JobLister
	checker Checker
	clock   clock.Clock
	logger  *slog.Logger
}

// NewDefinitionReview wires the parts.
func NewDefinitionReview(jobs JobLister, checker Checker, c clock.Clock, l *slog.Logger) *DefinitionReview {
	return &DefinitionReview{jobs: jobs, checker: checker, clock: c, logger: l}
}

const (
	// reviewPage is how many jobs the review reads at once. reviewPause is the time
	// between two pages: no caller waits for the review.
	reviewPage  = 100
	reviewPause = 50 * time.Millisecond
	// reviewNamed bounds the jobs that are named.
	reviewNamed = 50
)

// Run reads the commands once and warns of those that this version refuses. It logs the
// first reason of each, and the number of all. It ends early when ctx does.
func (r *DefinitionReview) Run(ctx context.Context) {
	refused, cursor := 0, ""
	timer := r.clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		jobs, next, err := r.jobs.List(ctx, repository.JobFilter{Type: entity.JobCommand},
			repository.Page{Limit: reviewPage, Cursor: cursor})
		if err != nil {
			r.logger.Warn("the definitions of commands were not reviewed to the end", "error", err)
			return
		}
		for _, job := range jobs {
			wrong := r.checker.Check(job)
			if len(wrong) == 0 {
				continue
			}
			if refused++; refused <= reviewNamed {
				r.logger.Warn("a definition is refused by this version, and its runs fail: edit the job",
					"job", job.Name, "group", job.Group, "id", job.ID, "field", wrong[0].Field, "reason", wrong[0].Message)
			}
		}
		if cursor = next; cursor == "" {
			break
		}
		timer.Reset(reviewPause)
	}
	if refused > 0 {
		r.logger.Warn("definitions of commands are refused by this version", "jobs", refused)
	}
}
