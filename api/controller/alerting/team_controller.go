package alerting

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// TeamService manages teams.
type TeamService = SettingService[alert.Team, *alert.Team]

// TeamController serves /teams.
type TeamController struct {
	s settings[alert.Team, *alert.Team]
}

// NewTeamController serves the teams of a service.
func NewTeamController(service TeamService) *TeamController {
	return &TeamController{settings[alert.Team, *alert.Team]{
		alert.KindTeam, service, request.ReadTeam, func(v *alert.Team, _ entity.Principal) any { return vo.FromTeam(v) },
		nil,
	}}
}

// List answers GET /teams.
//
//	@Summary List the teams
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Team]
//	@Router /api/v1/teams [get]
func (t *TeamController) List(c *gin.Context) error { return t.s.list(c) }

// Create answers POST /teams.
//
//	@Summary Make a team
//	@Description A team has users, channels that reach all of them, or both.
//	@Tags alerts
//	@Param body body request.TeamBody true "body"
//	@x-example {"name":"billing","members":["id-of-ann"]}
//	@Success 201 {object} vo.Team
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/teams [post]
func (t *TeamController) Create(c *gin.Context) error { return t.s.create(c) }

// Get answers GET /teams/{id}.
//
//	@Summary Show one team
//	@Tags alerts
//	@Param id path string true "id of the team"
//	@Success 200 {object} vo.Team
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/teams/{id} [get]
func (t *TeamController) Get(c *gin.Context) error { return t.s.get(c) }

// Replace answers PUT /teams/{id}.
//
//	@Summary Replace a team
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the team"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.TeamBody true "body"
//	@x-example {"name":"billing","members":["id-of-ann"],"version":1}
//	@Success 200 {object} vo.Team
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/teams/{id} [put]
func (t *TeamController) Replace(c *gin.Context) error { return t.s.replace(c) }

// Delete answers DELETE /teams/{id}.
//
//	@Summary Delete a team
//	@Tags alerts
//	@Param id path string true "id of the team"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "on-call plans name it, or somebody changed it at the same time"
//	@Router /api/v1/teams/{id} [delete]
func (t *TeamController) Delete(c *gin.Context) error { return t.s.remove(c) }
