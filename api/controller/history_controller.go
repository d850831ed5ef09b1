package controller

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Versions answers GET /jobs/{id}/versions.
func (j *JobController) Versions(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	versions, next, err := j.jobs.History(c.Request.Context(), c.Param("id"), page)
	if err != nil {
		return err
	}
	items := make([]vo.JobVersion, len(versions))
	for i, v := range versions {
		items[i] = vo.FromVersion(v)
		if i > 0 {
			items[i-1].Changes = middleware.Diff(vo.FromJob(v), vo.FromJob(versions[i-1]))
		}
	}
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

// Restore answers POST /jobs/{id}/versions/{version}/restore.
func (j *JobController) Restore(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	version, err := request.ReadVersion(c.Request, given)
	if err != nil {
		return err
	}
	former, err := strconv.Atoi(c.Param("version"))
	if err != nil || former < 1 {
		return fault.NotFound("version", c.Param("version"))
	}
	before, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	next, err := j.jobs.Version(c.Request.Context(), before.ID, former)
	if err != nil {
		return err
	}
	return j.replace(c, before, next, version, ifMatch)
}

// Copy answers POST /jobs/{id}/copy.
func (j *JobController) Copy(c *gin.Context) error {
	name, group, err := request.ReadCopy(c.Request)
	if err != nil {
		return err
	}
	from, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	target := *from
	if group != "" {
		target.Group = group
	}
	if err := middleware.PermitDefinition(c, &target); err != nil {
		return err
	}
	job, err := j.jobs.Copy(c.Request.Context(), c.Param("id"), name, group)
	if err != nil {
		return err
	}
	c.Header("Location", "/api/v1/jobs/"+job.ID)
	return replyJob(c, http.StatusCreated, job)
}
