package alerting

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// RouteService manages routes.
type RouteService = SettingService[alert.Route, *alert.Route]

// RouteController serves /alert-routes.
type RouteController struct {
	s settings[alert.Route, *alert.Route]
}

// NewRouteController serves the routes of a service.
func NewRouteController(service RouteService) *RouteController {
	return &RouteController{settings[alert.Route, *alert.Route]{
		alert.KindRoute, service, request.ReadRoute, func(v *alert.Route, _ entity.Principal) any { return vo.FromRoute(v) },
		nil,
	}}
}

// List answers GET /alert-routes.
//
//	@Summary List the routes
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Route]
//	@Router /api/v1/alert-routes [get]
func (r *RouteController) List(c *gin.Context) error { return r.s.list(c) }

// Create answers POST /alert-routes.
//
//	@Summary Make an alert route
//	@Description Routes are asked in the order of their positions. The first that matches takes the alert, unless it says continue.
//	@Tags alerts
//	@Param body body request.RouteBody true "body"
//	@x-example {"name":"critical","match":{"severity":"CRITICAL"},"channelIds":[],"continue":true}
//	@Success 201 {object} vo.Route
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/alert-routes [post]
func (r *RouteController) Create(c *gin.Context) error { return r.s.create(c) }

// Get answers GET /alert-routes/{id}.
//
//	@Summary Show one alert route
//	@Tags alerts
//	@Param id path string true "id of the alert route"
//	@Success 200 {object} vo.Route
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/alert-routes/{id} [get]
func (r *RouteController) Get(c *gin.Context) error { return r.s.get(c) }

// Replace answers PUT /alert-routes/{id}.
//
//	@Summary Replace an alert route
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the alert route"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.RouteBody true "body"
//	@x-example {"name":"critical","match":{"severity":"CRITICAL"},"channelIds":[],"continue":true,"repeatSec":3600,"version":1}
//	@Success 200 {object} vo.Route
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-routes/{id} [put]
func (r *RouteController) Replace(c *gin.Context) error { return r.s.replace(c) }

// Delete answers DELETE /alert-routes/{id}.
//
//	@Summary Delete an alert route
//	@Tags alerts
//	@Param id path string true "id of the alert route"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "others name it, or somebody changed it at the same time"
//	@Router /api/v1/alert-routes/{id} [delete]
func (r *RouteController) Delete(c *gin.Context) error { return r.s.remove(c) }
