package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DeadLetterService shows runs whose retries are used up, and repeats them.
type DeadLetterService interface {
	// DeadLetters filters by job when jobID is not empty.
	DeadLetters(ctx context.Context, jobID string, p repository.Page) (letters []entity.DeadLetter, next string, err error)
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
	jobID, page := q.Text("jobId"), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	letters, next, err := d.letters.DeadLetters(c.Request.Context(), jobID, page)
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
