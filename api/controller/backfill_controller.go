package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// BackfillService runs past times of jobs.
type BackfillService interface {
	// Plan says what Start would do, and stores nothing.
	Plan(ctx context.Context, jobID string, r service.Backfill) (service.BackfillPlan, error)
	Start(ctx context.Context, jobID string, r service.Backfill) (entity.Backfill, error)
	List(ctx context.Context, jobID string, p repository.Page) (backfills []entity.Backfill, next string, err error)
	Cancel(ctx context.Context, jobID, id string) (entity.Backfill, error)
}

// BackfillController serves the backfills of jobs.
type BackfillController struct {
	backfills BackfillService
	reader    request.JobReader
}

// NewBackfillController serves the backfills of a service.
func NewBackfillController(backfills BackfillService, reader request.JobReader) *BackfillController {
	return &BackfillController{backfills: backfills, reader: reader}
}

// Start answers POST /jobs/{id}/backfill.
//
//	@Summary	Run the planned times of a past range, each once
//	@Tags		jobs
//	@Security	BearerAuth
//	@Accept		json
//	@Produce	json
//	@Param		id				path		string						true	"job"
//	@Param		body			body		object{from=string,to=string,dryRun=bool,maxParallel=int}	true	"the range [from, to), at most 10,000 planned times; maxParallel 1-100, default 1"
//	@Param		Idempotency-Key	header		string						false	"repeat the call safely"
//	@Success	200				{object}	vo.BackfillPlan				"dryRun: what would run"
//	@Success	202				{object}	vo.Backfill
//	@Failure	404				{object}	problem.Problem
//	@Failure	422				{object}	problem.Problem
//	@Router		/jobs/{id}/backfill [post]
func (b *BackfillController) Start(c *gin.Context) error {
	r, dryRun, err := b.reader.Backfill(c.Request)
	if err != nil {
		return err
	}
	if dryRun {
		plan, err := b.backfills.Plan(c.Request.Context(), c.Param("id"), r)
		if err != nil {
			return err
		}
		return reply(c, http.StatusOK, vo.FromBackfillPlan(plan.Times, plan.Total, plan.AlreadyRun))
	}
	who, _ := middleware.CallerOf(c)
	r.User = who.User.Name
	started, err := b.backfills.Start(c.Request.Context(), c.Param("id"), r)
	if err != nil {
		return err
	}
	return reply(c, http.StatusAccepted, vo.FromBackfill(started))
}

// List answers GET /jobs/{id}/backfills.
//
//	@Summary	The backfills of a job, newest first
//	@Tags		jobs
//	@Security	BearerAuth
//	@Produce	json
//	@Param		id		path		string	true	"job"
//	@Param		limit	query		int		false	"1-200, default 50"
//	@Param		cursor	query		string	false	"nextCursor of the former page"
//	@Success	200		{object}	vo.Page[vo.Backfill]
//	@Failure	404		{object}	problem.Problem
//	@Router		/jobs/{id}/backfills [get]
func (b *BackfillController) List(c *gin.Context) error {
	return replyPage(c, func(ctx context.Context, p repository.Page) ([]entity.Backfill, string, error) {
		return b.backfills.List(ctx, c.Param("id"), p)
	}, vo.FromBackfill)
}

// Cancel answers POST /jobs/{id}/backfills/{backfillId}/cancel.
//
//	@Summary	Stop a backfill: nothing more starts, runs that were made go on
//	@Tags		jobs
//	@Security	BearerAuth
//	@Produce	json
//	@Param		id			path		string	true	"job"
//	@Param		backfillId	path		string	true	"backfill"
//	@Success	200			{object}	vo.Backfill
//	@Failure	404			{object}	problem.Problem
//	@Failure	409			{object}	problem.Problem	"it is done"
//	@Router		/jobs/{id}/backfills/{backfillId}/cancel [post]
func (b *BackfillController) Cancel(c *gin.Context) error {
	cancelled, err := b.backfills.Cancel(c.Request.Context(), c.Param("id"), c.Param("backfillId"))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FromBackfill(cancelled))
}
