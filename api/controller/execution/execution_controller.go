// Package execution translates between HTTP and the use cases of executions: their
// logs, dead letters, and the reports of targets. Controllers are safe for concurrent
// use.
package execution

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ExecutionService shows and steers runs.
type ExecutionService interface {
	Get(ctx context.Context, id string) (*entity.Execution, error)
	List(ctx context.Context, f repository.ExecutionFilter,
		p repository.Page) (rows []*entity.Execution, next string, err error)
	// LastSuccess is nil where there is none; complete is false where not all was looked at.
	LastSuccess(ctx context.Context, id string) (last *entity.Execution, complete bool, err error)
	// Attempts and Logs return apperror.KindNotFound for an unknown run.
	Attempts(ctx context.Context, id string) ([]entity.Attempt, error)
	Usage(ctx context.Context, row *entity.Execution) (entity.Usage, error)
	// Started are the runs that the end of a fire has started, of jobs in groups that are seen.
	Started(ctx context.Context, row *entity.Execution, sees func(group string) bool) ([]*entity.Execution, error)
	Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error)
	Cancel(ctx context.Context, id string) error
	Retry(ctx context.Context, id string, by entity.Actor) (newID string, err error)
	// DeadLetters are runs whose retries are used up; DeadLetterCauses counts those that wait, by job and reason.
	DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
		p repository.Page) (letters []entity.DeadLetter, next string, err error)
	DeadLetterCauses(ctx context.Context, f repository.DeadLetterFilter) ([]repository.DeadLetterCause, error)
	Replay(ctx context.Context, executionID string, by entity.Actor) (newID string, err error)
	Discard(ctx context.Context, executionID string) error
	Failures(ctx context.Context, f repository.FailureFilter) (execution.Failures, error)
	// Names maps job ids to names, of deleted jobs too.
	Names(ctx context.Context, jobIDs []string) (map[string]string, error)
}

// JobExecutionController serves /executions, /dead-letters and what failed of late.
type JobExecutionController struct{ Executions ExecutionService }

// List answers GET /executions.
//
//	@Summary List executions, newest first
//	@Description Steps of workflow runs are left out, unless steps, runId or the id of a step as jobId asks for them. from and to bound scheduledTime. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Param jobId query string false "id of a job" maxlength(512)
//	@Param group query string false "group of the jobs" maxlength(512)
//	@Param nodeId query string false "id of the node that runs or ran them, or in whose queue they wait" maxlength(512)
//	@Param waitsFor query string false "what WAITING runs wait for" enums(SLOT,NODE,COMMAND,HANDLER,WORKER,TIME,JOB,GROUP,APPROVAL)
//	@Param status query string false "state" enums(WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD)
//	@Param trigger query string false "why the run exists" enums(SCHEDULE,MANUAL,API,RETRY,MISFIRE,DEPENDENCY)
//	@Param steps query boolean false "also steps of workflow runs"
//	@Param runId query string false "only steps of this workflow run" maxlength(512)
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Success 200 {object} vo.Page[vo.Execution]
//	@Router /api/v1/executions [get]
func (e *JobExecutionController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := repository.ExecutionFilter{
		JobID: q.Text("jobId"), NodeID: q.Text("nodeId"),
		Status:   request.OneOf(q, "status", entity.Statuses()...),
		Trigger:  request.OneOf(q, "trigger", entity.Triggers()...),
		WaitsFor: request.OneOf(q, "waitsFor", entity.Waits()...),
	}
	f.From, f.To = q.Span()
	f.Groups = middleware.VisibleGroupsIn(c, q.Text("group"))
	f.Steps, f.RunID = q.Bool("steps"), q.Text("runId")
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	rows, next, err := e.Executions.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	names, err := namesOf(c, e.Executions, rows, func(row *entity.Execution) string { return row.JobID })
	if err != nil {
		return err
	}
	return reply.Found(c, page, rows, next, func(row *entity.Execution) vo.Execution {
		return vo.FromExecution(row, names)
	})
}

// Get answers GET /executions/{id}.
//
//	@Summary Show one execution
//	@Success 200 {object} vo.ExecutionDetail
//	@Router /api/v1/executions/{id} [get]
func (e *JobExecutionController) Get(c *gin.Context) error {
	row, err := e.Executions.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	who, bound := middleware.CallerOf(c)
	started, err := e.Executions.Started(c.Request.Context(), row, func(group string) bool {
		return !bound || permission.AllowsIn(who, permission.ExecutionRead, group)
	})
	if err != nil {
		return err
	}
	jobs := []string{row.JobID}
	for _, s := range started {
		jobs = append(jobs, s.JobID)
	}
	names, err := e.Executions.Names(c.Request.Context(), jobs)
	if err != nil {
		return err
	}
	usage, err := e.Executions.Usage(c.Request.Context(), row)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromExecutionDetail(row, names, usage, started))
}

// LastSuccess answers GET /executions/{id}/last-success.
//
//	@Summary Show the last successful execution of the same job before an execution
//	@Description It is null where there is none; complete is false where the job has more executions before it than one call looks at.
//	@Success 200 {object} vo.LastSuccess
//	@Router /api/v1/executions/{id}/last-success [get]
func (e *JobExecutionController) LastSuccess(c *gin.Context) error {
	row, complete, err := e.Executions.LastSuccess(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	answer := vo.LastSuccess{Complete: complete}
	if row != nil {
		names, err := e.Executions.Names(c.Request.Context(), []string{row.JobID})
		if err != nil {
			return err
		}
		v := vo.FromExecution(row, names)
		answer.Execution = &v
	}
	return reply.JSON(c, http.StatusOK, answer)
}

// Attempts answers GET /executions/{id}/attempts.
//
//	@Summary List the attempts of an execution, the latest one last
//	@Success 200 {object} vo.Page[vo.Attempt]
//	@Router /api/v1/executions/{id}/attempts [get]
func (e *JobExecutionController) Attempts(c *gin.Context) error {
	attempts, err := e.Executions.Attempts(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(vo.FromAttempts(attempts), ""))
}

// Logs answers GET /executions/{id}/logs.
//
//	@Summary Show a page of the log of an execution
//	@Description The cursor is the seq of the last line read, so a follower can go on from where it stands, also when nextCursor is null.
//	@Param limit query int false "most lines of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "seq of the last line that was read" maxlength(512)
//	@Success 200 {object} vo.Logs
//	@Router /api/v1/executions/{id}/logs [get]
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
			return apperror.InvalidField("cursor", "invalid_cursor",
				"must be the nextCursor of a former page, or the seq of a line")
		}
	}
	// Every chunk holds at least one new line, so that as many chunks as lines
	// always fill the page.
	chunks, err := e.Executions.Logs(c.Request.Context(), repository.LogPage{
		ExecutionID: c.Param("id"), AfterSeq: after,
		Limit: page.Limit,
	})
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromChunks(chunks, after, page.Limit, len(chunks) >= page.Limit))
}

// Cancel answers POST /executions/{id}/cancel: the wish is noted, and the run
// ends when its node has seen it.
//
//	@Summary Ask for an execution to be cancelled
//	@Success 202 {object} vo.NewExecution "the wish is noted; the run ends when its node has seen it"
//	@Failure 409 {object} problem.Problem "it is final already"
//	@Router /api/v1/executions/{id}/cancel [post]
func (e *JobExecutionController) Cancel(c *gin.Context) error {
	id := c.Param("id")
	if err := e.Executions.Cancel(c.Request.Context(), id); err != nil {
		return err
	}
	return reply.JSON(c, http.StatusAccepted, vo.FromID(id))
}

// Retry answers POST /executions/{id}/retry with a new run.
//
//	@Summary Run an execution again as a new one
//	@Description The root of a workflow run is repeated from what failed, as POST /workflow-runs/{id}/retry does.
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is not final, or is a step of a workflow run, or a workflow run that succeeded, or stands for a range of skipped fires, or a call with the same key is in progress"
//	@Router /api/v1/executions/{id}/retry [post]
func (e *JobExecutionController) Retry(c *gin.Context) error {
	id, err := e.Executions.Retry(c.Request.Context(), c.Param("id"), middleware.ActorOf(c))
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{"executionIds": {nil, []string{id}}})
	return reply.JSON(c, http.StatusAccepted, vo.FromID(id))
}

// namesOf maps the ids of the jobs of items to names.
func namesOf[T any](c *gin.Context, s ExecutionService, items []T, jobOf func(T) string) (map[string]string, error) {
	var ids []string
	seen := map[string]bool{}
	for _, item := range items {
		if id := jobOf(item); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return s.Names(c.Request.Context(), ids)
}
