package job

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// RetryExecutions answers POST /bulk/executions/retry.
//
//	@Summary Run executions again as new ones
//	@Description Give ids. Or give a filter with dryRun: nothing runs, and the answer counts by job and cause the failed executions that would, newest first up to limit. Its planId, sent within ten minutes, starts those executions, the oldest first; more says that the planId of the answer starts the rest. A plan leaves out, and counts, executions that were run again before, those of jobs of which a later fire succeeded, and those of deleted jobs. One failure does not stop the others.
//	@Param body body request.BulkRetry true "body"
//	@x-example {"filter":{"groups":["shop"],"from":"2026-11-22T02:00:00.000Z","to":"2026-11-22T03:00:00.000Z","reason":"NODE_LOST"},"dryRun":true}
//	@Success 200 {object} vo.BulkRetry "what became of each, or a plan"
//	@Router /api/v1/bulk/executions/retry [post]
func (b *BulkController) RetryExecutions(c *gin.Context) error {
	body, err := request.ReadBulkRetry(c.Request)
	switch {
	case err != nil:
		return err
	case body.Filter != nil:
		return b.planRetry(c, body)
	}
	answer, t, do := vo.BulkRetry{}, treatment{ids: body.IDs}, b.Runs.Retry
	if body.PlanID != "" {
		do = b.Runs.RetryOnce
		if t.ids, answer.PlanID, err = b.nextOfPlan(body.PlanID); err != nil {
			return err
		}
		t.more = answer.PlanID != ""
	}
	by := middleware.ActorOf(c)
	answer.Bulk, err = b.treat(c, middleware.Execution, permission.ExecutionWrite, t,
		func(ctx context.Context, id string) ([]string, error) {
			made, err := do(ctx, id, by)
			return []string{made}, err
		})
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, answer)
}

// nextOfPlan is the runs of a plan that one call starts; rest is the plan of the others.
func (b *BulkController) nextOfPlan(planID string) (ids []string, rest string, err error) {
	ids, made, err := b.Runs.PlanOf(planID)
	if err != nil || len(ids) <= request.MaxBulk {
		return ids, "", err
	}
	rest, err = execution.PlanID(ids[request.MaxBulk:], made)
	return ids[:request.MaxBulk], rest, err
}

func (b *BulkController) planRetry(c *gin.Context, body request.BulkRetry) error {
	if err := middleware.Holds(c, permission.ExecutionRead); err != nil {
		return err // a plan shows messages of runs
	}
	plan, err := b.Runs.PlanRerun(c.Request.Context(), middleware.ActorOf(c).User, body.Filter.Rerun(), body.Limit,
		middleware.GroupsWith(c, permission.ExecutionWrite))
	if err != nil {
		return err
	}
	shown := plan.Jobs[:min(len(plan.Jobs), vo.MaxRetryJobs)]
	ids := convert.All(shown, func(j execution.FailureJob) string { return j.ID })
	names, err := b.Runs.Names(c.Request.Context(), ids)
	if err != nil {
		return err
	}
	answer := vo.BulkRetry{Bulk: vo.Bulk{Items: []vo.BulkItem{}, More: plan.More}, Plan: vo.FromRerun(plan, names)}
	answer.Plan.Until = vo.Time(plan.Made.Add(execution.PlanFor))
	if len(plan.IDs) > 0 {
		if answer.PlanID, err = execution.PlanID(plan.IDs, plan.Made); err != nil {
			return err
		}
	}
	return reply.JSON(c, http.StatusOK, answer)
}
