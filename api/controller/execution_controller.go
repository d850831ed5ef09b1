package controller

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ExecutionService shows and steers runs.
type ExecutionService interface {
	Get(ctx context.Context, id string) (*entity.Execution, error)
	List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) (rows []*entity.Execution, next string, err error)
	// Attempts and Logs return fault.KindNotFound for an unknown run.
	Attempts(ctx context.Context, id string) ([]entity.Attempt, error)
	Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error)
	Cancel(ctx context.Context, id string) error
	Retry(ctx context.Context, id string) (newID string, err error)
	// Names maps job ids to names, of deleted jobs too.
	Names(ctx context.Context, jobIDs []string) (map[string]string, error)
}

// JobExecutionController serves /executions.
type JobExecutionController struct{ executions ExecutionService }

// NewJobExecutionController serves the runs of a service.
func NewJobExecutionController(executions ExecutionService) *JobExecutionController {
	return &JobExecutionController{executions: executions}
}

// List answers GET /executions.
func (e *JobExecutionController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := repository.ExecutionFilter{
		JobID: q.Text("jobId"), NodeID: q.Text("nodeId"),
		Status: request.OneOf(q, "status", entity.Statuses()...),
		Trigger: request.OneOf(q, "trigger", entity.TriggerSchedule, entity.TriggerManual, entity.TriggerAPI,
			entity.TriggerRetry, entity.TriggerMisfire, entity.TriggerEvent, entity.TriggerDependency),
	}
	f.From, f.To = q.Span()
	f.Groups = middleware.VisibleGroups(c)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	rows, next, err := e.executions.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	names, err := e.executions.Names(c.Request.Context(), distinct(rows, func(r *entity.Execution) string { return r.JobID }))
	if err != nil {
		return err
	}
	items := make([]vo.Execution, len(rows))
	for i, row := range rows {
		items[i] = vo.FromExecution(row, names)
	}
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

// Get answers GET /executions/{id}.
func (e *JobExecutionController) Get(c *gin.Context) error {
	row, err := e.executions.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	names, err := e.executions.Names(c.Request.Context(), []string{row.JobID})
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FromExecution(row, names))
}

// Attempts answers GET /executions/{id}/attempts.
func (e *JobExecutionController) Attempts(c *gin.Context) error {
	attempts, err := e.executions.Attempts(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.NewPage(vo.FromAttempts(attempts), ""))
}

// Logs answers GET /executions/{id}/logs.
func (e *JobExecutionController) Logs(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	var after int64
	if page.Cursor != "" {
		var err error
		if after, err = strconv.ParseInt(page.Cursor, 10, 64); err != nil || after < 0 {
			return fault.InvalidField("cursor", "invalid_cursor", "must be the nextCursor of a former page, or the seq of a line")
		}
	}
	// Every chunk holds at least one new line, so that as many chunks as lines
	// always fill the page.
	chunks, err := e.executions.Logs(c.Request.Context(), repository.LogPage{ExecutionID: c.Param("id"), AfterSeq: after, Limit: page.Limit})
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FromChunks(chunks, after, page.Limit, len(chunks) >= page.Limit))
}

// Cancel answers POST /executions/{id}/cancel: the wish is noted, and the run
// ends when its node has seen it.
func (e *JobExecutionController) Cancel(c *gin.Context) error {
	id := c.Param("id")
	if err := e.executions.Cancel(c.Request.Context(), id); err != nil {
		return err
	}
	return reply(c, http.StatusAccepted, vo.FromID(id))
}

// Retry answers POST /executions/{id}/retry with a new run.
func (e *JobExecutionController) Retry(c *gin.Context) error {
	id, err := e.executions.Retry(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply(c, http.StatusAccepted, vo.FromID(id))
}

// distinct lists what of returns, each once.
func distinct[T any](items []T, of func(T) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range items {
		if id := of(item); !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
