package worker

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// GroupController serves /worker-groups, which are for admins.
type GroupController struct{ Groups *worker.GroupService }

// List answers GET /worker-groups.
//
//	@Summary List the worker groups
//	@Description All of them, by name.
//	@Success 200 {object} vo.Page[vo.WorkerGroup]
//	@Router /api/v1/worker-groups [get]
func (g *GroupController) List(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	groups, err := g.Groups.List(c.Request.Context())
	if err != nil {
		return err
	}
	return reply.Whole(c, groups, vo.FromWorkerGroup)
}

// Get answers GET /worker-groups/{name}.
//
//	@Summary Show a worker group
//	@Success 200 {object} vo.WorkerGroup
//	@Router /api/v1/worker-groups/{name} [get]
func (g *GroupController) Get(c *gin.Context) error {
	group, err := g.Groups.Get(c.Request.Context(), c.Param("name"))
	if err != nil {
		return err
	}
	return replyGroup(c, http.StatusOK, group)
}

// Put answers PUT /worker-groups/{name}.
//
//	@Summary Make or change a worker group
//	@Description 201 where it is new. Jobs of the job groups may name it, and all its workers are equal. Without version and If-Match the last edit wins.
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.WorkerGroupBody true "body"
//	@x-example {"jobGroups":["billing"],"secrets":false,"commands":false,"declare":false,"maxWorkers":200}
//	@Success 200 {object} vo.WorkerGroup
//	@Success 201 {object} vo.WorkerGroup
//	@Failure 409 {object} problem.Problem "stale version: read it again and repeat the edit; or jobs name the group that its workers would not run any more, and errors lists up to 20 of them"
//	@Router /api/v1/worker-groups/{name} [put]
func (g *GroupController) Put(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	n, err := request.ReadWorkerGroup(c.Request, c.Param("name"))
	if err != nil {
		return err
	}
	if ifMatch != 0 {
		n.Version = ifMatch
	}
	before, after, err := g.Groups.Put(c.Request.Context(), n)
	if err != nil {
		return request.EditFailed(err, given)
	}
	shown, err := g.Groups.Counted(c.Request.Context(), after)
	if err != nil {
		return err
	}
	if before == nil {
		middleware.SetDiff(c, nil, vo.FromWorkerGroup(shown))
		return replyGroup(c, http.StatusCreated, shown)
	}
	// The workers are no part of what was changed.
	was := worker.Group{Group: *before, Workers: shown.Workers}
	middleware.SetDiff(c, vo.FromWorkerGroup(was), vo.FromWorkerGroup(shown))
	return replyGroup(c, http.StatusOK, shown)
}

// Delete answers DELETE /worker-groups/{name}.
//
//	@Summary Delete a worker group with its tokens
//	@Failure 409 {object} problem.Problem "workers of the group are there: stop them first; or jobs name it, and errors lists up to 20 of them"
//	@Router /api/v1/worker-groups/{name} [delete]
func (g *GroupController) Delete(c *gin.Context) error {
	return reply.Done(c, g.Groups.Delete(c.Request.Context(), c.Param("name")))
}

// Tokens answers GET /worker-groups/{name}/tokens.
//
//	@Summary List the tokens of a worker group, without the tokens themselves
//	@Description All of them, also those that have expired.
//	@Success 200 {object} vo.Page[vo.WorkerToken]
//	@Router /api/v1/worker-groups/{name}/tokens [get]
func (g *GroupController) Tokens(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	tokens, err := g.Groups.Tokens(c.Request.Context(), c.Param("name"))
	if err != nil {
		return err
	}
	return reply.Whole(c, tokens, func(t entityworker.Token) vo.WorkerToken { return vo.FromWorkerToken(t, "") })
}

// CreateToken answers POST /worker-groups/{name}/tokens with the token, this once.
//
//	@Summary Make a token of a worker group
//	@Description Good for at most 366 days; at most 10 of a group are good at once.
//	@Param body body request.WorkerTokenBody true "body"
//	@x-example {"name":"deployed 2026-11","expiresAt":"2027-01-31T00:00:00Z"}
//	@Success 201 {object} vo.WorkerToken "with the token, this once"
//	@Failure 409 {object} problem.Problem "the group has ten good tokens: revoke one that nobody needs"
//	@Router /api/v1/worker-groups/{name}/tokens [post]
func (g *GroupController) CreateToken(c *gin.Context) error {
	n, err := request.ReadWorkerToken(c.Request)
	if err != nil {
		return err
	}
	n.Group, n.CreatedBy = c.Param("name"), middleware.ActorOf(c).User
	token, secret, err := g.Groups.CreateToken(c.Request.Context(), n)
	if err != nil {
		return err
	}
	nameToken(c, token)
	middleware.SetDiff(c, nil, vo.FromWorkerToken(token, ""))
	c.Header("Location", c.Request.URL.Path+"/"+token.ID)
	return reply.JSON(c, http.StatusCreated, vo.FromWorkerToken(token, secret))
}

// RevokeToken answers DELETE /worker-groups/{name}/tokens/{id}.
//
//	@Summary Revoke a token of a worker group
//	@Description Workers that call with it are refused within five seconds.
//	@Router /api/v1/worker-groups/{name}/tokens/{id} [delete]
func (g *GroupController) RevokeToken(c *gin.Context) error {
	token, err := g.Groups.RevokeToken(c.Request.Context(), c.Param("name"), c.Param("id"))
	if err != nil {
		return err
	}
	nameToken(c, token)
	middleware.SetChanges(c, map[string][2]any{"revoked": {false, true}})
	return reply.Done(c, nil)
}

// nameToken says for the audit log which token a call is about.
func nameToken(c *gin.Context, t entityworker.Token) {
	middleware.SetTarget(c, t.ID)
	middleware.SetTargetName(c, t.Group+"/"+t.Name)
}

func replyGroup(c *gin.Context, status int, g worker.Group) error {
	c.Header("ETag", request.ETag(g.Version))
	return reply.JSON(c, status, vo.FromWorkerGroup(g))
}
