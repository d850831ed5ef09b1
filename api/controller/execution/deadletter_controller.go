package execution

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DeadLetterService shows runs whose retries are used up, and repeats them.
type DeadLetterService interface {
	DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
		p repository.Page) (letters []entity.DeadLetter, next string, err error)
	// DeadLetterCauses counts those that wait, by job and reason.
	DeadLetterCauses(ctx context.Context, f repository.DeadLetterFilter) ([]repository.DeadLetterCause, error)
	Replay(ctx context.Context, executionID string, by entity.Actor) (newID string, err error)
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
//
//	@Summary List runs whose retries are used up, newest first
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags dead letters
//	@Param jobId query string false "id of a job" maxlength(512)
//	@Param reason query string false "why they died" maxlength(512)
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.DeadLetter]
//	@Success 304 "If-None-Match names this answer"
//	@Router /api/v1/dead-letters [get]
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
	names, err := d.letters.Names(c.Request.Context(), distinct(letters, func(l entity.DeadLetter) string {
		return l.JobID
	}))
	if err != nil {
		return err
	}
	items := make([]vo.DeadLetter, len(letters))
	for i, l := range letters {
		items[i] = vo.FromDeadLetter(l, names)
	}
	return reply.Found(c, page, items, next)
}

func letterFilter(c *gin.Context, q *request.Query) repository.DeadLetterFilter {
	return repository.DeadLetterFilter{
		JobID: q.Text("jobId"), Reason: entity.Reason(q.Text("reason")),
		Groups: middleware.VisibleGroups(c),
	}
}

// Causes answers GET /dead-letters/causes: what waits, by job and reason.
//
//	@Summary Count the dead letters that wait, by job and reason
//	@Tags dead letters
//	@Param jobId query string false "id of a job" maxlength(512)
//	@Param reason query string false "why they died" maxlength(512)
//	@Success 200 {object} vo.Page[vo.DeadLetterCause]
//	@Success 304 "If-None-Match names this answer"
//	@Router /api/v1/dead-letters/causes [get]
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
	names, err := d.letters.Names(c.Request.Context(), distinct(causes, func(l repository.DeadLetterCause) string {
		return l.JobID
	}))
	if err != nil {
		return err
	}
	items := make([]vo.DeadLetterCause, len(causes))
	for i, cause := range causes {
		items[i] = vo.FromCause(cause, names)
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(items, ""))
}

// Replay answers POST /dead-letters/{id}/replay with a new run.
//
//	@Summary Run a dead letter again as a new execution
//	@Tags dead letters
//	@Param id path string true "id of the execution"
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "replayed before, or a call with the same key is in progress"
//	@Router /api/v1/dead-letters/{id}/replay [post]
func (d *DeadLetterController) Replay(c *gin.Context) error {
	id, err := d.letters.Replay(c.Request.Context(), c.Param("id"), middleware.ActorOf(c))
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{"executionIds": {nil, []string{id}}})
	return reply.JSON(c, http.StatusAccepted, vo.FromID(id))
}

// Discard answers POST /dead-letters/{id}/discard.
//
//	@Summary Give a dead letter up
//	@Description Nothing is repeated; the run stays DEAD.
//	@Tags dead letters
//	@Param id path string true "id of the execution"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "replayed before"
//	@Router /api/v1/dead-letters/{id}/discard [post]
func (d *DeadLetterController) Discard(c *gin.Context) error {
	if err := d.letters.Discard(c.Request.Context(), c.Param("id")); err != nil {
		return err
	}
	return reply.NoContent(c)
}
