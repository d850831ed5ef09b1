package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DeadLetterService shows runs whose retries are used up, and repeats them.
type DeadLetterService interface {
	DeadLetters(ctx context.Context, f repository.DeadLetterFilter, p repository.Page) (letters []entity.DeadLetter, next string, err error)
	// DeadLetterCauses counts those that wait, by job and reason.
	DeadLetterCauses(ctx context.Context, f repository.DeadLetterFilter) ([]repository.DeadLetterCause, error)
	Replay(ctx context.Context, executionID string) (newID string, err error)
	Discard(ctx context.Context, executionID string) error
	Names(ctx context.Context, jobIDs []string) (map[string]string, error)
}

// DeadLetterController serves /dead-letters.
type DeadLetterController struct{ letters DeadLetterService }

// NewDeadLetterController serves the dead letters of a service.
func NewDeadLetterController(letters DeadLetterService) *DeadLetterController {
	return &DeadLetterController{letters: letters}
}

// List answers GET /dead-letters.
func (d *DeadLetterController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f, page := letterFilter(c, q), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	letters, next, err := d.letters.DeadLetters(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	names, err := d.letters.Names(c.Request.Context(), distinct(letters, func(l entity.DeadLetter) string { return l.JobID }))
	if err != nil {
		return err
	}
	items := make([]vo.DeadLetter, len(letters))
	for i, l := range letters {
		items[i] = vo.FromDeadLetter(l, names)
	}
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

func letterFilter(c *gin.Context, q *request.Query) repository.DeadLetterFilter {
	return repository.DeadLetterFilter{JobID: q.Text("jobId"), Reason: entity.Reason(q.Text("reason")), Groups: middleware.VisibleGroups(c)}
}

// Causes answers GET /dead-letters/causes: what waits, by job and reason.
func (d *DeadLetterController) Causes(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := letterFilter(c, q)
	if err := q.Done(); err != nil {
		return err
	}
	causes, err := d.letters.DeadLetterCauses(c.Request.Context(), f)
	if err != nil {
		return err
	}
	names, err := d.letters.Names(c.Request.Context(), distinct(causes, func(l repository.DeadLetterCause) string { return l.JobID }))
	if err != nil {
		return err
	}
	items := make([]vo.DeadLetterCause, len(causes))
	for i, cause := range causes {
		items[i] = vo.FromCause(cause, names)
	}
	return reply(c, http.StatusOK, vo.NewPage(items, ""))
}

// Replay answers POST /dead-letters/{id}/replay with a new run.
func (d *DeadLetterController) Replay(c *gin.Context) error {
	id, err := d.letters.Replay(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply(c, http.StatusAccepted, vo.FromID(id))
}

// Discard answers POST /dead-letters/{id}/discard.
func (d *DeadLetterController) Discard(c *gin.Context) error {
	if err := d.letters.Discard(c.Request.Context(), c.Param("id")); err != nil {
		return err
	}
	return noContent(c)
}
