package job

import (
	"context"
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

// BackfillController serves the backfills of jobs.
type BackfillController struct {
	Backfills *execution.BackfillService
	Reader    request.JobReader
}

// Start answers POST /jobs/{id}/backfill.
//
//	@Summary Run the planned times of a past range, each once
//	@Description With dryRun nothing is stored, and the answer is 200 with what would run.
//	@Param body body request.BackfillBody true "body"
//	@x-example {"from":"2020-01-01T00:00:00Z","to":"2020-01-02T00:00:00Z","dryRun":true,"maxParallel":2}
//	@Success 200 {object} vo.BackfillPlan "dryRun: what would run"
//	@Success 202 {object} vo.Backfill
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/jobs/{id}/backfill [post]
func (b *BackfillController) Start(c *gin.Context) error {
	r, dryRun, err := b.Reader.Backfill(c.Request)
	if err != nil {
		return err
	}
	if dryRun {
		plan, err := b.Backfills.Plan(c.Request.Context(), c.Param("id"), r)
		if err != nil {
			return err
		}
		return reply.JSON(c, http.StatusOK, vo.FromBackfillPlan(plan))
	}
	who, _ := middleware.CallerOf(c)
	r.User = who.User.Name
	started, err := b.Backfills.Start(c.Request.Context(), c.Param("id"), r)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{
		"backfill": {nil, started.ID}, "from": {nil, vo.Time(r.From)}, "to": {nil, vo.Time(r.To)},
		"maxParallel": {nil, r.MaxParallel}, "includeFailed": {nil, r.IncludeFailed},
	})
	return reply.JSON(c, http.StatusAccepted, vo.FromBackfill(started))
}

// List answers GET /jobs/{id}/backfills.
//
//	@Summary List the backfills of a job, newest first
//	@Success 200 {object} vo.Page[vo.Backfill]
//	@Router /api/v1/jobs/{id}/backfills [get]
func (b *BackfillController) List(c *gin.Context) error {
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Backfill, string, error) {
		return b.Backfills.List(ctx, c.Param("id"), p)
	}, vo.FromBackfill)
}

// Cancel answers POST /jobs/{id}/backfills/{backfillId}/cancel.
//
//	@Summary Stop a backfill: nothing more of it starts, its runs go on
//	@Success 200 {object} vo.Backfill
//	@Failure 409 {object} problem.Problem "it is over"
//	@Router /api/v1/jobs/{id}/backfills/{backfillId}/cancel [post]
func (b *BackfillController) Cancel(c *gin.Context) error {
	cancelled, err := b.Backfills.Cancel(c.Request.Context(), c.Param("id"), c.Param("backfillId"))
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{"backfill": {cancelled.ID, nil}})
	return reply.JSON(c, http.StatusOK, vo.FromBackfill(cancelled))
}
