package alerting

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// OnCallService manages on-call plans.
type OnCallService = SettingService[alert.OnCall, *alert.OnCall]

// OnCallController serves /on-call.
type OnCallController struct {
	s settings[alert.OnCall, *alert.OnCall]
}

// NewOnCallController serves the on-call plans of a service.
func NewOnCallController(service OnCallService) *OnCallController {
	return &OnCallController{settings[alert.OnCall, *alert.OnCall]{
		alert.KindOnCall, service, request.ReadOnCall, func(v *alert.OnCall, _ entity.Principal) any {
			return vo.FromOnCall(v)
		},
		nil,
	}}
}

// List answers GET /on-call.
//
//	@Summary List the on-call plans
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.OnCall]
//	@Router /api/v1/on-call [get]
func (p *OnCallController) List(c *gin.Context) error { return p.s.list(c) }

// Create answers POST /on-call.
//
//	@Summary Make an on-call plan
//	@Description Shifts are by the wall clock of the plan's zone. One that ends at or before its beginning ends on the day after.
//	@Tags alerts
//	@Param body body request.OnCallBody true "body"
//	@x-example {"name":"nights","timeZone":"Asia/Shanghai","shifts":[{"teamId":"0190a5e0-7c00-7000-8000-000000000001","from":"18:00","to":"09:00"}]}
//	@Success 201 {object} vo.OnCall
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/on-call [post]
func (p *OnCallController) Create(c *gin.Context) error { return p.s.create(c) }

// Get answers GET /on-call/{id}.
//
//	@Summary Show one on-call plan
//	@Tags alerts
//	@Param id path string true "id of the on-call plan"
//	@Success 200 {object} vo.OnCall
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/on-call/{id} [get]
func (p *OnCallController) Get(c *gin.Context) error { return p.s.get(c) }

// Replace answers PUT /on-call/{id}.
//
//	@Summary Replace an on-call plan
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the on-call plan"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.OnCallBody true "body"
//	@x-example {"name":"nights","timeZone":"Asia/Shanghai","shifts":[{"teamId":"0190a5e0-7c00-7000-8000-000000000001","from":"19:00","to":"08:00"}],"version":1}
//	@Success 200 {object} vo.OnCall
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/on-call/{id} [put]
func (p *OnCallController) Replace(c *gin.Context) error { return p.s.replace(c) }

// Delete answers DELETE /on-call/{id}.
//
//	@Summary Delete an on-call plan
//	@Tags alerts
//	@Param id path string true "id of the on-call plan"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "routes name it, or somebody changed it at the same time"
//	@Router /api/v1/on-call/{id} [delete]
func (p *OnCallController) Delete(c *gin.Context) error { return p.s.remove(c) }
