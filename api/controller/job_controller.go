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

// JobService manages definitions.
type JobService interface {
	Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error)
	Get(ctx context.Context, id string) (*entity.Job, error)
	List(ctx context.Context, f repository.JobFilter, p repository.Page) (jobs []*entity.Job, next string, err error)
	// Replace checks version (409) and ifMatch (412) where they are not 0.
	Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error)
	Pause(ctx context.Context, id string) (*entity.Job, error)
	Resume(ctx context.Context, id string) (*entity.Job, error)
	Delete(ctx context.Context, id string, ifMatch int) error
	Trigger(ctx context.Context, id string, t service.Trigger) (executionIDs []string, err error)
	History(ctx context.Context, id string, p repository.Page) (versions []*entity.Job, next string, err error)
	// Version is a former definition.
	Version(ctx context.Context, id string, version int) (*entity.Job, error)
	Copy(ctx context.Context, id, name, group string) (*entity.Job, error)
}

// JobController serves /jobs.
type JobController struct {
	jobs   JobService
	reader request.JobReader
}

// NewJobController serves the definitions of a service.
func NewJobController(jobs JobService, reader request.JobReader) *JobController {
	return &JobController{jobs: jobs, reader: reader}
}

// List answers GET /jobs.
func (j *JobController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := repository.JobFilter{
		NameContains: q.Text("name"), Group: q.Text("group"),
		Status: request.OneOf(q, "status", entity.JobCreated, entity.JobEnabled, entity.JobPaused, entity.JobFinished),
		Type:   request.OneOf(q, "jobType", entity.JobHTTP, entity.JobCommand, entity.JobCustom, commandAlias),
	}
	if f.Type == commandAlias {
		f.Type = entity.JobCommand
	}
	f.Groups = middleware.VisibleGroups(c)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	jobs, next, err := j.jobs.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	items := make([]vo.Job, len(jobs))
	for i, job := range jobs {
		items[i] = vo.FromJob(job)
	}
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

// commandAlias is the other name of the type CRON.
const commandAlias entity.JobType = "COMMAND"

// Create answers POST /jobs.
func (j *JobController) Create(c *gin.Context) error {
	n, err := j.reader.Create(c.Request)
	if err != nil {
		return err
	}
	if err := middleware.PermitDefinition(c, n.Job); err != nil {
		return err
	}
	job, err := j.jobs.Create(c.Request.Context(), n.Job, n.Enabled)
	if err != nil {
		return err
	}
	c.Header("Location", c.Request.URL.Path+"/"+job.ID)
	return replyJob(c, http.StatusCreated, job)
}

// Get answers GET /jobs/{id}.
func (j *JobController) Get(c *gin.Context) error {
	job, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return replyJob(c, http.StatusOK, job)
}

// Replace answers PUT /jobs/{id}.
func (j *JobController) Replace(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	edit, err := j.reader.Replace(c.Request, given)
	if err != nil {
		return err
	}
	before, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return j.replace(c, before, edit.Job, edit.Version, ifMatch)
}

func (j *JobController) replace(c *gin.Context, before, next *entity.Job, version, ifMatch int) error {
	if err := middleware.PermitDefinition(c, next); err != nil {
		return err
	}
	job, err := j.jobs.Replace(c.Request.Context(), before.ID, next, version, ifMatch)
	if err != nil {
		return err
	}
	middleware.Changed(c, vo.FromJob(before), vo.FromJob(job))
	return replyJob(c, http.StatusOK, job)
}

// Delete answers DELETE /jobs/{id}.
func (j *JobController) Delete(c *gin.Context) error {
	ifMatch, _, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	if err := j.jobs.Delete(c.Request.Context(), c.Param("id"), ifMatch); err != nil {
		return err
	}
	return noContent(c)
}

// Pause answers POST /jobs/{id}/pause.
func (j *JobController) Pause(c *gin.Context) error {
	job, err := j.jobs.Pause(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return replyJob(c, http.StatusOK, job)
}

// Resume answers POST /jobs/{id}/resume.
func (j *JobController) Resume(c *gin.Context) error {
	job, err := j.jobs.Resume(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return replyJob(c, http.StatusOK, job)
}

// Trigger answers POST /jobs/{id}/trigger. Whoever signs in is a person, so
// that the run's trigger is MANUAL.
func (j *JobController) Trigger(c *gin.Context) error {
	t, err := request.ReadTrigger(c.Request)
	if err != nil {
		return err
	}
	t.Source = entity.TriggerManual
	ids, err := j.jobs.Trigger(c.Request.Context(), c.Param("id"), t)
	if err != nil {
		return err
	}
	return reply(c, http.StatusAccepted, vo.FromIDs(ids))
}

func replyJob(c *gin.Context, status int, job *entity.Job) error {
	c.Header("ETag", request.ETag(job.Version))
	return reply(c, status, vo.FromJob(job))
}
