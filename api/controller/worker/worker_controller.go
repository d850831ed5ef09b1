package worker

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// WorkerController serves /workers for people. Callers see the workers that serve one of their job groups.
type WorkerController struct{ Workers *worker.WorkerService }

// sees is which workers the caller may see.
func sees(c *gin.Context) worker.Sees {
	who, _ := middleware.CallerOf(c)
	return func(jobGroups []string) bool { return permission.SeesWorkers(who, jobGroups) }
}

// view shows a worker to the caller.
func view(c *gin.Context) func(w worker.Worker) vo.Worker {
	who, _ := middleware.CallerOf(c)
	return func(w worker.Worker) vo.Worker {
		return vo.FromWorker(w, func(group string) bool { return permission.Sees(who, group) })
	}
}

// List answers GET /workers.
//
//	@Summary List the workers
//	@Description By id. Callers who are bound to groups see those whose worker group serves one of them. Send nextCursor of an answer as cursor to get the page after it; null ends the list. A page may be short although it is not the last.
//	@Param group query string false "of this worker group"
//	@Param status query string false "in this state" Enums(UP, DRAINING, DOWN)
//	@Success 200 {object} vo.Page[vo.Worker]
//	@Router /api/v1/workers [get]
func (w *WorkerController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	filter := worker.Filter{Group: q.Text("group"), Status: request.OneOf(q, "status", entityworker.Statuses()...)}
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	found, next, err := w.Workers.List(c.Request.Context(), filter, page, sees(c))
	if err != nil {
		return err
	}
	show := view(c)
	items := make([]vo.Worker, len(found))
	for i, one := range found {
		items[i] = show(one)
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(items, next))
}

// Get answers GET /workers/{id}.
//
//	@Summary Show a worker
//	@Success 200 {object} vo.Worker
//	@Router /api/v1/workers/{id} [get]
func (w *WorkerController) Get(c *gin.Context) error {
	found, err := w.Workers.Get(c.Request.Context(), c.Param("id"), sees(c))
	return reply.Shown(c, found, err, view(c))
}

// Drain answers POST /workers/{id}/drain.
//
//	@Summary Keep new runs away from a worker
//	@Description For callers who hold worker:write in every job group that its worker group serves. What runs goes on.
//	@Success 200 {object} vo.Worker
//	@Failure 409 {object} problem.Problem "the worker is down"
//	@Router /api/v1/workers/{id}/drain [post]
func (w *WorkerController) Drain(c *gin.Context) error { return w.change(c, w.Workers.Drain) }

// Resume answers POST /workers/{id}/resume.
//
//	@Summary Let runs start on a worker again
//	@Description For callers who hold worker:write in every job group that its worker group serves.
//	@Success 200 {object} vo.Worker
//	@Failure 409 {object} problem.Problem "the worker is down"
//	@Router /api/v1/workers/{id}/resume [post]
func (w *WorkerController) Resume(c *gin.Context) error { return w.change(c, w.Workers.Resume) }

func (w *WorkerController) change(c *gin.Context, act func(ctx context.Context, id string) error) error {
	before, err := w.Workers.Get(c.Request.Context(), c.Param("id"), sees(c))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, before.Group+"/"+before.Instance)
	if who, _ := middleware.CallerOf(c); !permission.WritesWorkers(who, before.JobGroups) {
		return apperror.New(apperror.KindForbidden, "forbidden", "you do not hold the permission worker:write in all job "+
			"groups that this worker serves")
	}
	if err := act(c.Request.Context(), before.ID); err != nil {
		return err
	}
	after, err := w.Workers.Get(c.Request.Context(), before.ID, sees(c))
	if err == nil {
		middleware.SetChanges(c, map[string][2]any{"status": {before.Status, after.Status}})
	}
	return reply.Shown(c, after, err, view(c))
}
