// Package workflow translates between HTTP and the use cases of workflow runs. Controllers are safe for concurrent use.
package workflow

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// RunController serves /workflow-runs, and the graphs of workflows.
type RunController struct {
	Runs *workflowrun.Service
	Why  *explain.ExplainService
}

// ListRuns answers GET /workflow-runs.
//
//	@Summary List workflow runs, newest first
//	@Description from and to bound scheduledTime. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Param workflowId query string false "id of a workflow" maxlength(512)
//	@Param group query string false "group of the workflows" maxlength(512)
//	@Param phase query string false "phases, with commas between them: OPEN, PAUSED, CANCELLING, CLOSED" maxlength(512)
//	@Param status query string false "state of the root" enums(WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD)
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Success 200 {object} vo.Page[vo.WorkflowRun]
//	@Router /api/v1/workflow-runs [get]
func (r *RunController) ListRuns(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := repository.WorkflowRunFilter{
		WorkflowID: q.Text("workflowId"), Status: request.OneOf(q, "status", entity.Statuses()...),
	}
	names := convert.All(wf.Phases(), wf.Phase.String)
	for _, name := range request.SomeOf(q, "phase", names...) {
		f.Phases = append(f.Phases, wf.Phases()[slices.Index(names, name)])
	}
	f.From, f.To = q.Span()
	f.Groups = middleware.VisibleGroupsIn(c, q.Text("group"))
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	runs, next, err := r.Runs.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	return reply.Found(c, page, runs, next, vo.FromWorkflowRun)
}

// Get answers GET /workflow-runs/{id}.
//
//	@Summary Show a workflow run and where each of its steps stands
//	@Description Its id is that of its root execution. There is none until the root has started.
//	@Success 200 {object} vo.WorkflowRunDetail
//	@Router /api/v1/workflow-runs/{id} [get]
func (r *RunController) Get(c *gin.Context) error {
	run, err := r.Runs.Get(c.Request.Context(), c.Param("id"))
	return reply.Shown(c, run, err, vo.FromWorkflowRunDetail)
}

// Steps answers GET /workflow-runs/{id}/steps.
//
//	@Summary List the executions of the steps of a workflow run
//	@Description Steps come in the order of the definition, of each its generations, and behind the step itself its items. A page may be short although there are more: send nextCursor as cursor until it is null.
//	@Param step query string false "name of a step, or the key of an item, such as score[7]" maxlength(512)
//	@Param status query string false "state" enums(WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD)
//	@Success 200 {object} vo.Page[vo.StepExecution]
//	@Router /api/v1/workflow-runs/{id}/steps [get]
func (r *RunController) Steps(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := workflowrun.StepFilter{Step: q.Text("step"), Status: request.OneOf(q, "status", entity.Statuses()...)}
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	found, next, err := r.Runs.StepExecutions(c.Request.Context(), c.Param("id"), f, page)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(convert.All(found, vo.FromStepExecution), next))
}

// WhyStep answers GET /workflow-runs/{id}/steps/{key}/why.
//
//	@Summary Explain why a step of a workflow run stands where it stands
//	@Description facts has each need with the end that it asks for, how that ended and when, and the rules that followed.
//	@Param key path string true "name of the step"
//	@Param timeZone query string false "IANA zone of the times in texts; UTC by default" maxlength(512)
//	@Success 200 {object} vo.StepExplanation
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/workflow-runs/{id}/steps/{key}/why [get]
func (r *RunController) WhyStep(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	zone := q.Zone("timeZone")
	if err := q.Done(); err != nil {
		return err
	}
	answer, err := r.Why.Step(c.Request.Context(), c.Param("id"), c.Param("key"), zone)
	return reply.Shown(c, answer, err, vo.FromStepAnswer)
}

// Cancel answers POST /workflow-runs/{id}/cancel.
//
//	@Summary Ask for a workflow run to be cancelled
//	@Description Live steps are stopped, and nothing starts any more but steps with finally.
//	@Success 202 {object} vo.NewExecution "the wish is noted; the run ends when its steps have ended"
//	@Failure 409 {object} problem.Problem "it is final already"
//	@Router /api/v1/workflow-runs/{id}/cancel [post]
func (r *RunController) Cancel(c *gin.Context) error {
	return r.run(c, r.Runs.Cancel)
}

// Pause answers POST /workflow-runs/{id}/pause.
//
//	@Summary Pause a workflow run
//	@Description Ends of steps are recorded, and nothing is decided until it is resumed. Its time-out goes on.
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is closed, or being cancelled"
//	@Router /api/v1/workflow-runs/{id}/pause [post]
func (r *RunController) Pause(c *gin.Context) error { return r.run(c, r.Runs.Pause) }

// Resume answers POST /workflow-runs/{id}/resume.
//
//	@Summary Let a paused workflow run go on
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is closed, or being cancelled, or cannot go on"
//	@Router /api/v1/workflow-runs/{id}/resume [post]
func (r *RunController) Resume(c *gin.Context) error { return r.run(c, r.Runs.Resume) }

func (r *RunController) run(c *gin.Context, do func(ctx context.Context, id string) error) error {
	if err := do(c.Request.Context(), c.Param("id")); err != nil {
		return err
	}
	return reply.JSON(c, http.StatusAccepted, vo.FromID(c.Param("id")))
}

// CancelStep answers POST /workflow-runs/{id}/steps/{key}/cancel.
//
//	@Summary Stop a step of a workflow run that is live, or one item of it
//	@Param key path string true "key of the step: NAME, or NAME[17] for an item"
//	@Success 202 {object} vo.NewExecution "the wish is noted"
//	@Failure 409 {object} problem.Problem "it is not live"
//	@Router /api/v1/workflow-runs/{id}/steps/{key}/cancel [post]
func (r *RunController) CancelStep(c *gin.Context) error { return r.step(c, r.Runs.CancelStep) }

// SkipStep answers POST /workflow-runs/{id}/steps/{key}/skip.
//
//	@Summary Skip a step of a workflow run that waits, or is held
//	@Param key path string true "key of the step: NAME, or NAME[17] for an item"
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it runs, or is final and not held"
//	@Router /api/v1/workflow-runs/{id}/steps/{key}/skip [post]
func (r *RunController) SkipStep(c *gin.Context) error { return r.step(c, r.Runs.SkipStep) }

// RepeatStep answers POST /workflow-runs/{id}/steps/{key}/repeat.
//
//	@Summary Run a held step of a workflow run again
//	@Description Of a map, the items run again that failed or never began.
//	@Param key path string true "name of the step"
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is not held, or a call with the same key is in progress"
//	@Router /api/v1/workflow-runs/{id}/steps/{key}/repeat [post]
func (r *RunController) RepeatStep(c *gin.Context) error { return r.step(c, r.Runs.RepeatStep) }

// SucceedStep answers POST /workflow-runs/{id}/steps/{key}/succeed.
//
//	@Summary Call a held step of a workflow run a success
//	@Param key path string true "name of the step"
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is not held"
//	@Router /api/v1/workflow-runs/{id}/steps/{key}/succeed [post]
func (r *RunController) SucceedStep(c *gin.Context) error { return r.step(c, r.Runs.SucceedStep) }

func (r *RunController) step(c *gin.Context, do func(ctx context.Context, id, step string) error) error {
	middleware.SetChanges(c, map[string][2]any{"step": {nil, c.Param("key")}})
	if err := do(c.Request.Context(), c.Param("id"), c.Param("key")); err != nil {
		return err
	}
	return reply.JSON(c, http.StatusAccepted, vo.FromID(c.Param("id")))
}

// Graph answers GET /jobs/{id}/graph.
//
//	@Summary Show the steps of a workflow and the edges between them
//	@Param version query int false "a former version; the current one by default" minimum(1) maximum(2147483647)
//	@Success 200 {object} vo.WorkflowGraph
//	@Failure 409 {object} problem.Problem "the job is no workflow"
//	@Failure 422 {object} problem.Problem "there is no such version"
//	@Router /api/v1/jobs/{id}/graph [get]
func (r *RunController) Graph(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	version := q.Int("version", 0, 1, 1<<31-1)
	if err := q.Done(); err != nil {
		return err
	}
	graph, err := r.Runs.Graph(c.Request.Context(), c.Param("id"), version)
	return reply.Shown(c, graph, err, vo.FromWorkflowGraph)
}
