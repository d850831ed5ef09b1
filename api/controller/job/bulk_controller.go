package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Executions cancels and repeats executions, and tells what became of the fires of a job.
type Executions interface {
	Cancel(ctx context.Context, id string) error
	Retry(ctx context.Context, id string, by entity.Actor) (newID string, err error)
	Fires(ctx context.Context, q entity.LedgerQuery) (entries []entity.LedgerEntry, next string, err error)
	// Names maps job ids to names, of deleted jobs too.
	Names(ctx context.Context, jobIDs []string) (map[string]string, error)
	DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
		p repository.Page) (letters []entity.DeadLetter, next string, err error)
	Replay(ctx context.Context, executionID string, by entity.Actor) (newID string, err error)
	Discard(ctx context.Context, executionID string) error
	// PlanRerun counts failed runs; PlanOf reads the id of such a plan, whose runs RetryOnce starts.
	PlanRerun(ctx context.Context, user string, f execution.RerunFilter, limit int,
		visible []string) (execution.RerunPlan, error)
	PlanOf(planID string) (ids []string, made time.Time, err error)
	RetryOnce(ctx context.Context, id string, by entity.Actor) (newID string, err error)
}

// BulkController serves /bulk: one action on many objects, each with a result
// of its own. A failure for one does not stop the others. Only a store
// that does not answer does: then nothing more begins.
type BulkController struct {
	Jobs  JobService
	Runs  Executions
	Scope middleware.Scope
}

// bulkWorkers is how many objects of one call are treated at once.
const bulkWorkers = 8

// one treats one object and returns the runs it made.
type one func(ctx context.Context, id string) (executionIDs []string, err error)

// PauseJobs answers POST /bulk/jobs/pause.
//
//	@Summary Pause jobs
//	@Description One failure does not stop the others.
//	@Param body body request.BulkPause true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"],"reason":"the target is being moved"}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/jobs/pause [post]
func (b *BulkController) PauseJobs(c *gin.Context) error {
	ids, p, err := request.ReadBulkPause(c.Request, middleware.ActorOf(c).User)
	if err != nil {
		return err
	}
	return b.run(c, middleware.Job, permission.JobWrite, treatment{ids: ids, note: func(did map[string][2]any) {
		maps.Copy(did, auditOfPause(p))
	}}, func(ctx context.Context, id string) ([]string, error) {
		_, err := b.Jobs.Pause(ctx, id, p)
		return nil, err
	})
}

// ResumeJobs answers POST /bulk/jobs/resume.
//
//	@Summary Resume jobs
//	@Description One failure does not stop the others.
//	@Param body body request.BulkIDs true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"]}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/jobs/resume [post]
func (b *BulkController) ResumeJobs(c *gin.Context) error {
	return b.byID(c, middleware.Job, permission.JobWrite, func(ctx context.Context, id string) ([]string, error) {
		_, err := b.Jobs.Resume(ctx, id)
		return nil, err
	})
}

// DeleteJobs answers POST /bulk/jobs/delete.
//
//	@Summary Delete jobs
//	@Description One failure does not stop the others.
//	@Param body body request.BulkIDs true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"]}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/jobs/delete [post]
func (b *BulkController) DeleteJobs(c *gin.Context) error {
	var mu sync.Mutex
	deleted := map[string]string{}
	body, err := request.ReadBulk(c.Request)
	if err != nil {
		return err
	}
	note := func(did map[string][2]any) {
		delete(did, "done")
		did["deleted"] = [2]any{auditOfDeleted(deleted), nil}
	}
	return b.run(c, middleware.Job, permission.JobWrite, treatment{ids: body.IDs, note: note},
		func(ctx context.Context, id string) ([]string, error) {
			job, err := b.Jobs.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			if err := b.Jobs.Delete(ctx, id, 0); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			deleted[id] = job.Name
			return nil, nil
		})
}

// TriggerJobs answers POST /bulk/jobs/trigger.
//
//	@Summary Run jobs now
//	@Description One failure does not stop the others.
//	@Param body body request.BulkTrigger true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"],"params":{"day":"2026-11-22"}}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/jobs/trigger [post]
func (b *BulkController) TriggerJobs(c *gin.Context) error {
	by := middleware.ActorOf(c)
	ids, params, err := request.ReadBulkTrigger(c.Request)
	if err != nil {
		return err
	}
	return b.run(c, middleware.Job, permission.JobRun, treatment{ids: ids},
		func(ctx context.Context, id string) ([]string, error) {
			return b.Jobs.Trigger(ctx, id, job.Trigger{Source: entity.TriggerManual, By: by, Params: params})
		})
}

// CancelExecutions answers POST /bulk/executions/cancel.
//
//	@Summary Ask for executions to be cancelled
//	@Description One failure does not stop the others.
//	@Param body body request.BulkIDs true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"]}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/executions/cancel [post]
func (b *BulkController) CancelExecutions(c *gin.Context) error {
	return b.byID(c, middleware.Execution, permission.ExecutionWrite,
		func(ctx context.Context, id string) ([]string, error) {
			return nil, b.Runs.Cancel(ctx, id)
		})
}

// ReplayLetters answers POST /bulk/dead-letters/replay.
//
//	@Summary Run dead letters again
//	@Description One failure does not stop the others. Give ids, or jobId and reason; more says that a filter met more than one call treats.
//	@Param body body request.BulkLetters true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"]}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/dead-letters/replay [post]
func (b *BulkController) ReplayLetters(c *gin.Context) error {
	by := middleware.ActorOf(c)
	return b.byCause(c, func(ctx context.Context, id string) ([]string, error) {
		made, err := b.Runs.Replay(ctx, id, by)
		return []string{made}, err
	})
}

// DiscardLetters answers POST /bulk/dead-letters/discard.
//
//	@Summary Give dead letters up
//	@Description One failure does not stop the others. Give ids, or jobId and reason; more says that a filter met more than one call treats.
//	@Param body body request.BulkLetters true "body"
//	@x-example {"ids":["01990000-0000-7000-8000-000000000001"]}
//	@Success 200 {object} vo.Bulk "what became of each"
//	@Router /api/v1/bulk/dead-letters/discard [post]
func (b *BulkController) DiscardLetters(c *gin.Context) error {
	return b.byCause(c, func(ctx context.Context, id string) ([]string, error) { return nil, b.Runs.Discard(ctx, id) })
}

func (b *BulkController) byID(c *gin.Context, o middleware.Object, p permission.Permission, do one) error {
	body, err := request.ReadBulk(c.Request)
	if err != nil {
		return err
	}
	return b.run(c, o, p, treatment{ids: body.IDs}, do)
}

func (b *BulkController) byCause(c *gin.Context, do one) error {
	body, err := request.ReadBulkLetters(c.Request)
	if err != nil {
		return err
	}
	ids, more := body.IDs, false
	if len(ids) == 0 {
		f := repository.DeadLetterFilter{
			JobID: body.JobID, Reason: entity.Reason(body.Reason), Waiting: true,
			Groups: middleware.VisibleGroups(c),
		}
		if ids, more, err = b.lettersOf(c.Request.Context(), f); err != nil {
			return err
		}
	}
	return b.run(c, middleware.Execution, permission.ExecutionWrite, treatment{ids: ids, more: more}, do)
}

// lettersOf lists the newest letters of a cause, as many as one call may name.
func (b *BulkController) lettersOf(ctx context.Context,
	f repository.DeadLetterFilter,
) (ids []string, more bool, err error) {
	page := repository.Page{Limit: request.MaxBulk}
	for {
		letters, next, err := b.Runs.DeadLetters(ctx, f, page)
		if err != nil {
			return nil, false, err
		}
		for _, l := range letters {
			ids = append(ids, l.ExecutionID)
		}
		if next == "" || len(ids) >= request.MaxBulk {
			return ids, next != "", nil
		}
		page = repository.Page{Limit: request.MaxBulk - len(ids), Cursor: next} // a page may be short
	}
}

// treatment is what a call treats.
type treatment struct {
	ids []string
	// more: there are others, for another call.
	more bool
	// note adds to what the audit log keeps; nil adds nothing.
	note func(did map[string][2]any)
}

func (b *BulkController) run(c *gin.Context, o middleware.Object, p permission.Permission, t treatment, do one) error {
	answer, err := b.treat(c, o, p, t, do)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, answer)
}

// treat does something with each object that the caller may change, and notes it for the audit log.
func (b *BulkController) treat(c *gin.Context, o middleware.Object, p permission.Permission, t treatment,
	do one,
) (vo.Bulk, error) {
	ids := t.ids
	refused, err := b.Scope.Refused(c, o, p, ids)
	if err != nil {
		return vo.Bulk{}, err
	}
	items := make([]vo.BulkItem, len(ids))
	ctx := c.Request.Context()
	var workers errgroup.Group
	workers.SetLimit(bulkWorkers)
	var silent atomic.Pointer[error] // of a store that let somebody wait in vain
	for i, id := range ids {
		workers.Go(func() error {
			made, err := []string(nil), refused[id]
			if waited := silent.Load(); err == nil && waited != nil {
				err = *waited
			}
			if err == nil {
				made, err = do(ctx, id)
			}
			if apperror.Is(err, apperror.KindUnavailable) && errors.Is(err, context.DeadlineExceeded) {
				silent.Store(&err)
			}
			items[i] = itemOf(id, made, err)
			return nil
		})
	}
	_ = workers.Wait() // the workers report by item
	answer := vo.Bulk{Items: items, More: t.more}
	for _, item := range items {
		if item.OK {
			answer.Succeeded++
		}
	}
	answer.Failed = len(items) - answer.Succeeded
	middleware.SetTarget(c, fmt.Sprintf("%d objects", len(ids)))
	did := auditOfBulk(items)
	if t.note != nil {
		t.note(did)
	}
	middleware.SetChanges(c, did)
	var names map[string]string
	if o == middleware.Job {
		names, _ = b.Runs.Names(ctx, ids) // an entry without a name is better than none
	}
	for _, item := range items {
		if item.OK {
			middleware.AddPart(c, item.ID, names[item.ID], nil)
		}
	}
	return answer, nil
}

func itemOf(id string, made []string, err error) vo.BulkItem {
	if err == nil {
		return vo.BulkItem{ID: id, OK: true, ExecutionIDs: made}
	}
	code, message := problem.Explain(err)
	return vo.BulkItem{ID: id, Code: code, Message: message}
}
