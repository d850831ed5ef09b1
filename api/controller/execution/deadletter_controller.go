package execution

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DeadLetters answers GET /dead-letters.
//
//	@Summary List runs whose retries are used up, newest first
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Param jobId query string false "id of a job" maxlength(512)
//	@Param group query string false "group of the jobs" maxlength(512)
//	@Param reason query string false "why they died" maxlength(512)
//	@Success 200 {object} vo.Page[vo.DeadLetter]
//	@Router /api/v1/dead-letters [get]
func (e *JobExecutionController) DeadLetters(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f, page := letterFilter(c, q), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	letters, next, err := e.Executions.DeadLetters(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	names, err := namesOf(c, e.Executions, letters, func(l entity.DeadLetter) string { return l.JobID })
	if err != nil {
		return err
	}
	return reply.Found(c, page, letters, next, func(l entity.DeadLetter) vo.DeadLetter {
		return vo.FromDeadLetter(l, names)
	})
}

func letterFilter(c *gin.Context, q *request.Query) repository.DeadLetterFilter {
	return repository.DeadLetterFilter{
		JobID: q.Text("jobId"), Reason: entity.Reason(q.Text("reason")),
		Groups: middleware.VisibleGroupsIn(c, q.Text("group")),
	}
}

// DeadLetterCauses answers GET /dead-letters/causes: what waits, by job and reason.
//
//	@Summary Count the dead letters that wait, by job and reason
//	@Param jobId query string false "id of a job" maxlength(512)
//	@Param group query string false "group of the jobs" maxlength(512)
//	@Param reason query string false "why they died" maxlength(512)
//	@Success 200 {object} vo.Page[vo.DeadLetterCause]
//	@Router /api/v1/dead-letters/causes [get]
func (e *JobExecutionController) DeadLetterCauses(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := letterFilter(c, q)
	if err := q.Done(); err != nil {
		return err
	}
	causes, err := e.Executions.DeadLetterCauses(c.Request.Context(), f)
	if err != nil {
		return err
	}
	names, err := namesOf(c, e.Executions, causes, func(l repository.DeadLetterCause) string { return l.JobID })
	if err != nil {
		return err
	}
	return reply.Whole(c, causes, func(cause repository.DeadLetterCause) vo.DeadLetterCause {
		return vo.FromCause(cause, names)
	})
}

// Replay answers POST /dead-letters/{id}/replay with a new run.
//
//	@Summary Run a dead letter again as a new execution
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "replayed before, or a call with the same key is in progress"
//	@Router /api/v1/dead-letters/{id}/replay [post]
func (e *JobExecutionController) Replay(c *gin.Context) error {
	id, err := e.Executions.Replay(c.Request.Context(), c.Param("id"), middleware.ActorOf(c))
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
//	@Failure 409 {object} problem.Problem "replayed before"
//	@Router /api/v1/dead-letters/{id}/discard [post]
func (e *JobExecutionController) Discard(c *gin.Context) error {
	return reply.Done(c, e.Executions.Discard(c.Request.Context(), c.Param("id")))
}

// Failures answers GET /monitor/failures.
//
//	@Summary Count the newest failures by cause
//	@Description FAILED, TIMEOUT and DEAD executions by their reason, most first. from and to bound scheduledTime. Steps of workflow runs are left out, unless steps or runId asks for them. The look back is bounded: complete says whether it reached from.
//	@Param group query string false "group of the jobs" maxlength(512)
//	@Param steps query boolean false "also steps of workflow runs"
//	@Param runId query string false "only steps of this workflow run" maxlength(512)
//	@Param from query string false "first moment, RFC 3339; a day before to by default" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339; now by default" format(date-time)
//	@Success 200 {object} vo.Failures
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/failures [get]
func (e *JobExecutionController) Failures(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := repository.FailureFilter{Groups: middleware.VisibleGroupsIn(c, q.Text("group"))}
	ask.From, ask.To = q.Span()
	ask.Steps, ask.RunID = q.Bool("steps"), q.Text("runId")
	if err := q.Done(); err != nil {
		return err
	}
	found, err := e.Executions.Failures(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	var jobs []execution.FailureJob
	for _, cause := range found.Causes {
		jobs = append(jobs, cause.Jobs...)
	}
	names, err := namesOf(c, e.Executions, jobs, func(j execution.FailureJob) string { return j.ID })
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromFailures(found, names))
}
