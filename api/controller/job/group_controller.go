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
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// GroupController serves /groups.
type GroupController struct{ Groups *group.GroupService }

// List answers GET /groups.
//
//	@Summary List the groups of jobs
//	@Description Callers who are bound to groups see those. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.Group]
//	@Router /api/v1/groups [get]
func (g *GroupController) List(c *gin.Context) error {
	visible := middleware.VisibleGroups(c)
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Group, string, error) {
		return g.Groups.List(ctx, visible, p)
	}, vo.FromGroup)
}

// Create answers POST /groups.
//
//	@Summary Make a group
//	@Param body body request.GroupBody true "body"
//	@x-example {"name":"billing","maxConcurrency":5}
//	@Success 201 {object} vo.Group
//	@Failure 409 {object} problem.Problem "the name is taken, or a call with the same key is in progress"
//	@Router /api/v1/groups [post]
func (g *GroupController) Create(c *gin.Context) error {
	n, err := request.ReadGroup(c.Request)
	if err != nil {
		return err
	}
	if err := middleware.Permit(c, permission.JobWrite, n.Name); err != nil {
		return err
	}
	middleware.SetTarget(c, n.Name)
	middleware.SetTargetName(c, n.Name)
	group, err := g.Groups.Create(c.Request.Context(), n.Name, n.MaxConcurrency)
	if err != nil {
		return err
	}
	middleware.SetDiff(c, nil, vo.FromGroup(group))
	c.Header("Location", c.Request.URL.Path+"/"+group.Name)
	return replyGroup(c, http.StatusCreated, group)
}

// Get answers GET /groups/{name}.
//
//	@Summary Show one group
//	@Success 200 {object} vo.Group
//	@Router /api/v1/groups/{name} [get]
func (g *GroupController) Get(c *gin.Context) error {
	group, err := g.Groups.Get(c.Request.Context(), c.Param("name"))
	if err != nil {
		return err
	}
	return replyGroup(c, http.StatusOK, group)
}

// Replace answers PUT /groups/{name}.
//
//	@Summary Change how many jobs of a group may run at once
//	@Description A group cannot be renamed. Without version and If-Match the last edit wins.
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.GroupChange true "body"
//	@x-example {"maxConcurrency":10}
//	@Success 200 {object} vo.Group
//	@Failure 409 {object} problem.Problem "stale version: read it again and repeat the edit"
//	@Router /api/v1/groups/{name} [put]
func (g *GroupController) Replace(c *gin.Context) error {
	ifMatch, _, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	n, err := request.ReadGroupChange(c.Request, c.Param("name"))
	if err != nil {
		return err
	}
	before, err := g.Groups.Get(c.Request.Context(), c.Param("name"))
	if err != nil {
		return err
	}
	if ifMatch != 0 && ifMatch != before.Version {
		return request.VersionMismatch("group", before.Version, ifMatch)
	}
	if ifMatch != 0 {
		n.Version = ifMatch
	}
	group, err := g.Groups.Limit(c.Request.Context(), before.Name, n.MaxConcurrency, n.Version)
	if err != nil {
		return err
	}
	middleware.SetDiff(c, vo.FromGroup(before), vo.FromGroup(group))
	return replyGroup(c, http.StatusOK, group)
}

// Delete answers DELETE /groups/{name}.
//
//	@Summary Delete an empty group
//	@Failure 409 {object} problem.Problem "the group still has jobs"
//	@Router /api/v1/groups/{name} [delete]
func (g *GroupController) Delete(c *gin.Context) error {
	return reply.Done(c, g.Groups.Delete(c.Request.Context(), c.Param("name")))
}

// Pause answers POST /groups/{name}/pause.
//
//	@Summary Pause the jobs of a group
//	@Description Nothing of the group is planned any more, on every node within a second. New jobs of the group are paused too. settled turns true when every job shows it. The body may be empty; of a group that is paused already, one with a reason or an end changes these. With until the group is resumed at that moment, by itself.
//	@Param body body request.PauseBody false "why, and until when"
//	@x-example {"reason":"the ledger is being closed"}
//	@Success 200 {object} vo.Group
//	@Router /api/v1/groups/{name}/pause [post]
func (g *GroupController) Pause(c *gin.Context) error { return g.pause(c, c.Param("name")) }

// Resume answers POST /groups/{name}/resume.
//
//	@Summary Resume the jobs that a pause of their group holds
//	@Description Jobs that a person paused stay paused.
//	@Success 200 {object} vo.Group
//	@Router /api/v1/groups/{name}/resume [post]
func (g *GroupController) Resume(c *gin.Context) error { return g.resume(c, c.Param("name")) }

// PauseAll answers POST /jobs/pause.
//
//	@Summary Pause all jobs
//	@Description For callers who are bound to no groups. Nothing is planned any more, on every node within a second. The body is that of the pause of a group.
//	@Param body body request.PauseBody false "why, and until when"
//	@x-example {"reason":"an emergency"}
//	@Success 200 {object} vo.Group "the group that stands for all jobs; it has no name"
//	@Router /api/v1/jobs/pause [post]
func (g *GroupController) PauseAll(c *gin.Context) error { return g.pause(c, entity.AllJobs) }

// ResumeAll answers POST /jobs/resume.
//
//	@Summary Resume the jobs that the pause of all holds
//	@Description For callers who are bound to no groups. Jobs that a person or their group paused stay paused.
//	@Success 200 {object} vo.Group "the group that stands for all jobs; it has no name"
//	@Router /api/v1/jobs/resume [post]
func (g *GroupController) ResumeAll(c *gin.Context) error { return g.resume(c, entity.AllJobs) }

func (g *GroupController) pause(c *gin.Context, name string) error {
	aboutAll(c, name)
	p, err := request.ReadPause(c.Request, middleware.ActorOf(c).User)
	if err != nil {
		return err
	}
	group, err := g.Groups.Pause(c.Request.Context(), name, p)
	if err != nil {
		return err
	}
	didPause(c, p)
	return replyGroup(c, http.StatusOK, group)
}

// aboutAll names what a call for all jobs is about: it has no name of its own.
func aboutAll(c *gin.Context, name string) {
	if name == entity.AllJobs {
		middleware.SetTarget(c, "all jobs")
	}
}

func (g *GroupController) resume(c *gin.Context, name string) error {
	aboutAll(c, name)
	group, err := g.Groups.Resume(c.Request.Context(), name)
	if err != nil {
		return err
	}
	return replyGroup(c, http.StatusOK, group)
}

func replyGroup(c *gin.Context, status int, g entity.Group) error {
	c.Header("ETag", request.ETag(g.Version))
	return reply.JSON(c, status, vo.FromGroup(g))
}
