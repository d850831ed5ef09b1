package job

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Versions answers GET /jobs/{id}/versions.
//
//	@Summary List the versions of a job, newest first
//	@Description changes holds [before, after] by field. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.JobVersion]
//	@Router /api/v1/jobs/{id}/versions [get]
func (j *JobController) Versions(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	versions, next, err := j.Jobs.History(c.Request.Context(), c.Param("id"), page)
	if err != nil {
		return err
	}
	items := make([]vo.JobVersion, len(versions))
	for i, v := range versions {
		items[i] = vo.FromVersion(seen(c, v))
		if i > 0 {
			items[i-1].Changes = differences(v, versions[i-1], edits(c, v.Group))
		}
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(items, next))
}

// Restore answers POST /jobs/{id}/versions/{version}/restore.
//
//	@Summary Make a former definition the current one
//	@Description The definition becomes a new version, in the group of the job. Needs the current version, in the body or as If-Match.
//	@Param version path integer true "which version" minimum(1)
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.VersionBody false "the version that was read, unless If-Match names it"
//	@x-example {"version":2}
//	@Success 200 {object} vo.Job
//	@Failure 409 {object} problem.Problem "stale version: read it again and repeat the edit"
//	@Router /api/v1/jobs/{id}/versions/{version}/restore [post]
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
		return apperror.NotFound("version", c.Param("version"))
	}
	before, err := j.Jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	next, err := j.Jobs.Version(c.Request.Context(), before.ID, former)
	if err != nil {
		return err
	}
	next.Group = before.Group // jobs changed their groups once
	return j.replace(c, before, next, version, ifMatch)
}

// Copy answers POST /jobs/{id}/copy.
//
//	@Summary Make a new job like this one
//	@Description The copy is CREATED: resume it to let it fire.
//	@Param body body request.CopyBody false "name and group of the copy; absent, they are made up and taken over"
//	@x-example {"name":"settle orders again"}
//	@Success 201 {object} vo.Job
//	@Failure 409 {object} problem.Problem "the name is taken, or a call with the same key is in progress"
//	@Router /api/v1/jobs/{id}/copy [post]
func (j *JobController) Copy(c *gin.Context) error {
	as, err := request.ReadCopy(c.Request)
	if err != nil {
		return err
	}
	from, err := j.Jobs.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	target := *from
	if as.Group != "" {
		target.Group = as.Group
	}
	if err := middleware.PermitDefinition(c, &target); err != nil {
		return err
	}
	job, err := j.Jobs.Copy(c.Request.Context(), c.Param("id"), as.Name, as.Group)
	if err != nil {
		return err
	}
	middleware.SetTarget(c, job.ID)
	middleware.SetTargetName(c, job.Name)
	middleware.SetChanges(c, map[string][2]any{"copyOf": {nil, from.ID}, "group": {nil, job.Group}})
	c.Header("Location", "/api/v1/jobs/"+job.ID)
	return j.reply(c, http.StatusCreated, job)
}
