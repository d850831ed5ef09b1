// Package job translates between HTTP and the use cases of jobs: their definitions,
// schedules, groups, backfills and versions, and calls for many objects. Controllers
// hold no state of their own and are safe for concurrent use.
package job

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// JobService manages definitions.
type JobService interface {
	Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error)
	Get(ctx context.Context, id string) (*entity.Job, error)
	// Starters are the jobs that start a job, as group/name.
	Starters(ctx context.Context, id string, sees func(group string) bool) ([]string, error)
	List(ctx context.Context, f repository.JobFilter, p repository.Page) (jobs []*entity.Job, next string, err error)
	// CheckNames says what a definition names that it may not name, or that is not there.
	CheckNames(ctx context.Context, job *entity.Job) ([]apperror.Field, error)
	// Replace checks version (409) and ifMatch (412) where they are not 0.
	Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error)
	Pause(ctx context.Context, id string, p entity.Pause) (*entity.Job, error)
	Resume(ctx context.Context, id string) (*entity.Job, error)
	Delete(ctx context.Context, id string, ifMatch int) error
	Undelete(ctx context.Context, id, user string, permit func(*entity.Job) error) (*entity.Job, error)
	Trigger(ctx context.Context, id string, t job.Trigger) (executionIDs []string, err error)
	History(ctx context.Context, id string, p repository.Page) (versions []*entity.Job, next string, err error)
	// Version is a former definition.
	Version(ctx context.Context, id string, version int) (*entity.Job, error)
	Copy(ctx context.Context, id, name, group string) (*entity.Job, error)
	// NextFireTimes and Preview describe the schedule in words of a language, too.
	NextFireTimes(ctx context.Context, jobID string, count int,
		in schedule.Language) (times []time.Time, description string, err error)
	Preview(ctx context.Context, spec schedule.Spec, from time.Time, count int,
		in schedule.Language) (times []time.Time, description string, err error)
	// ChannelWarnings says which channels a job names that it cannot use.
	ChannelWarnings(ctx context.Context, job *entity.Job) []apperror.Field
}

// JobController serves /jobs.
type JobController struct {
	Jobs   JobService
	Reader request.JobReader
	Warner *node.NodeService
}

// List answers GET /jobs.
//
//	@Summary List jobs, newest first
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Param name query string false "part of the name" maxlength(512)
//	@Param group query string false "name of a group" maxlength(512)
//	@Param status query string false "state" enums(CREATED,ENABLED,PAUSED,FINISHED)
//	@Param jobType query string false "what it does" enums(HTTP,COMMAND,CUSTOM,WORKFLOW,CRON)
//	@Success 200 {object} vo.Page[vo.Job]
//	@Router /api/v1/jobs [get]
func (j *JobController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := repository.JobFilter{
		NameContains: q.Text("name"), Group: q.Text("group"),
		Status: request.OneOf(q, "status", entity.JobCreated, entity.JobEnabled, entity.JobPaused, entity.JobFinished),
		Type: request.OneOf(q, "jobType", entity.JobHTTP, entity.JobCommand, entity.JobCustom, entity.JobWorkflow,
			request.FormerCommand),
	}
	if f.Type == request.FormerCommand {
		f.Type = entity.JobCommand
	}
	f.Groups = middleware.VisibleGroups(c)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	jobs, next, err := j.Jobs.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	return reply.Found(c, page, jobs, next, func(job *entity.Job) vo.Job { return vo.FromJob(seen(c, job)) })
}

// Create answers POST /jobs.
//
//	@Summary Make a job
//	@Description Only name, jobType and what that type needs are required; the rest is at its default. It fires at once by its schedule, unless enabled is false. The answer of GET may be sent: fields that only the server sets are ignored.
//	@Param body body request.JobBody true "body"
//	@x-example {"name":"settle orders","jobType":"CUSTOM","jobClass":"noop","schedule":{"kind":"CRON","cronExpression":"0 0/5 * * * ?","timeZone":"Asia/Shanghai"}}
//	@Success 201 {object} vo.Job
//	@Failure 409 {object} problem.Problem "the name is taken in the group, or a call with the same key is in progress"
//	@Router /api/v1/jobs [post]
func (j *JobController) Create(c *gin.Context) error {
	n, err := j.Reader.Create(c.Request)
	if err != nil {
		return err
	}
	if err := middleware.PermitDefinition(c, n.Job); err != nil {
		return err
	}
	middleware.SetTargetName(c, n.Job.Name)
	job, err := j.Jobs.Create(c.Request.Context(), n.Job, n.Enabled)
	if err != nil {
		return err
	}
	middleware.SetTarget(c, job.ID)
	middleware.SetChanges(c, map[string][2]any{"group": {nil, job.Group}, "version": {nil, job.Version}})
	c.Header("Location", c.Request.URL.Path+"/"+job.ID)
	return j.reply(c, http.StatusCreated, job)
}

// Get answers GET /jobs/{id}.
//
//	@Summary Show one job
//	@Success 200 {object} vo.Job
//	@Router /api/v1/jobs/{id} [get]
func (j *JobController) Get(c *gin.Context) error {
	job, err := j.Jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return j.reply(c, http.StatusOK, job)
}

// Replace answers PUT /jobs/{id}.
//
//	@Summary Replace the definition of a job
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412). The group stays: another one is 422, unchangeable. A fire never changes the version.
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.JobChange true "body"
//	@x-example {"name":"settle orders","jobType":"CUSTOM","jobClass":"noop","priority":7,"version":1}
//	@Success 200 {object} vo.Job
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/jobs/{id} [put]
func (j *JobController) Replace(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	edit, err := j.Reader.Replace(c.Request, given)
	if err != nil {
		return err
	}
	before, err := j.Jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	if !edit.GroupGiven {
		edit.Job.Group = before.Group
	}
	return j.replace(c, before, edit.Job, edit.Version, ifMatch)
}

func (j *JobController) replace(c *gin.Context, before, next *entity.Job, version, ifMatch int) error {
	if err := middleware.PermitDefinition(c, next); err != nil {
		return err
	}
	if next.Group != before.Group {
		// Its versions, runs and logs would come along, to who may not see them.
		return apperror.InvalidField("group", "unchangeable",
			fmt.Sprintf("is %q for good, as the past of the job belongs to that group: copy the job to the other group, and "+
				"delete this one", before.Group))
	}
	middleware.SetTargetName(c, before.Name)
	job, err := j.Jobs.Replace(c.Request.Context(), before.ID, next, version, ifMatch)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, differences(before, job, false))
	return j.reply(c, http.StatusOK, job)
}

// Undelete answers POST /jobs/{id}/undelete.
//
//	@Summary Bring a deleted job back
//	@Description It comes back with its id, runs and versions, while retention keeps it. A job that was enabled is PAUSED since its deletion.
//	@Success 200 {object} vo.Job
//	@Failure 409 {object} problem.Problem "another job of the group has the name"
//	@Router /api/v1/jobs/{id}/undelete [post]
func (j *JobController) Undelete(c *gin.Context) error {
	job, err := j.Jobs.Undelete(c.Request.Context(), c.Param("id"), middleware.ActorOf(c).User,
		func(job *entity.Job) error { return middleware.PermitDefinition(c, job) })
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, job.Name)
	middleware.SetChanges(c, map[string][2]any{"version": {nil, job.Version}})
	return j.reply(c, http.StatusOK, job)
}

// Delete answers DELETE /jobs/{id}.
//
//	@Summary Delete a job
//	@Description Its executions stay until retention removes them.
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Router /api/v1/jobs/{id} [delete]
func (j *JobController) Delete(c *gin.Context) error {
	ifMatch, _, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	job, err := j.Jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, job.Name)
	return reply.Done(c, j.Jobs.Delete(c.Request.Context(), job.ID, ifMatch))
}

// Pause answers POST /jobs/{id}/pause.
//
//	@Summary Pause a job
//	@Description Runs that have begun or wait go on. The body may be empty; of a job that is paused already, one with a reason or an end changes these. With until the job is resumed at that moment, by itself.
//	@Param body body request.PauseBody false "why, and until when"
//	@x-example {"reason":"the target is being moved","until":"2199-11-20T12:00:00Z"}
//	@Success 200 {object} vo.Job
//	@Failure 409 {object} problem.Problem "the job is not enabled"
//	@Router /api/v1/jobs/{id}/pause [post]
func (j *JobController) Pause(c *gin.Context) error {
	p, err := request.ReadPause(c.Request, middleware.ActorOf(c).User)
	if err != nil {
		return err
	}
	job, err := j.Jobs.Pause(c.Request.Context(), c.Param("id"), p)
	if err != nil {
		return err
	}
	didPause(c, p)
	middleware.SetTargetName(c, job.Name)
	return j.reply(c, http.StatusOK, job)
}

// Resume answers POST /jobs/{id}/resume.
//
//	@Summary Resume or enable a job
//	@Success 200 {object} vo.Job
//	@Failure 409 {object} problem.Problem "the job has fired for the last time, or its group is paused"
//	@Router /api/v1/jobs/{id}/resume [post]
func (j *JobController) Resume(c *gin.Context) error {
	job, err := j.Jobs.Resume(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, job.Name)
	return j.reply(c, http.StatusOK, job)
}

// Trigger answers POST /jobs/{id}/trigger. A caller who signs in is a person,
// so that the run's trigger is MANUAL.
//
//	@Summary Run a job now
//	@Param traceparent header string false "span of the caller (W3C), parent of those of the run"
//	@Param body body request.TriggerBody false "parameters of the run"
//	@x-example {"params":{"day":"2026-11-20"},"delaySec":0}
//	@Success 202 {object} vo.Executions "one execution a shard"
//	@Failure 409 {object} problem.Problem "a call with the same key is in progress"
//	@Router /api/v1/jobs/{id}/trigger [post]
func (j *JobController) Trigger(c *gin.Context) error {
	t, err := request.ReadTrigger(c.Request)
	if err != nil {
		return err
	}
	t.Source, t.By = entity.TriggerManual, middleware.ActorOf(c)
	t.Parent = request.TraceContext(c.Request)
	ids, err := j.Jobs.Trigger(c.Request.Context(), c.Param("id"), t)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, auditOfTrigger(t, ids))
	return reply.JSON(c, http.StatusAccepted, vo.FromIDs(ids))
}

// reply is a job with what its editors are warned of.
func (j *JobController) reply(c *gin.Context, status int, job *entity.Job) error {
	job = seen(c, job)
	v := vo.FromJob(job)
	ctx := c.Request.Context()
	v.Warnings = warnings(job, append(j.Warner.Warnings(ctx, job)[0], j.Jobs.ChannelWarnings(ctx, job)...))
	who, bound := middleware.CallerOf(c)
	var err error
	v.StartedBy, err = j.Jobs.Starters(ctx, job.ID, func(group string) bool {
		return !bound || permission.AllowsIn(who, permission.JobRead, group)
	})
	if err != nil {
		return err
	}
	c.Header("ETag", request.ETag(job.Version))
	return reply.JSON(c, status, v)
}
