package alerting

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// SilenceService manages silences.
type SilenceService = SettingService[alert.Silence, *alert.Silence]

// SilenceController serves /alert-silences.
type SilenceController struct {
	s settings[alert.Silence, *alert.Silence]
}

// NewSilenceController serves the silences of a service. The clock says which are active.
func NewSilenceController(service SilenceService, c clock.Clock) *SilenceController {
	return &SilenceController{settings[alert.Silence, *alert.Silence]{
		alert.KindSilence, service, request.ReadSilence,
		func(v *alert.Silence, _ entity.Principal) any { return vo.FromSilence(v, c.Now()) },
		func(c *gin.Context, _, next *alert.Silence) error {
			next.By = middleware.ActorOf(c).User
			return nil
		},
	}}
}

// List answers GET /alert-silences.
//
//	@Summary List the silences
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Silence]
//	@Router /api/v1/alert-silences [get]
func (s *SilenceController) List(c *gin.Context) error { return s.s.list(c) }

// Create answers POST /alert-silences.
//
//	@Summary Make a silence
//	@Description Messages of alerts that have all the labels are held back until then; the alerts themselves go on. It begins now where from is absent, and ends at most 366 days later. A silence of a group holds back alerts of that group alone.
//	@Tags alerts
//	@Param body body request.SilenceBody true "body"
//	@x-example {"match":{"job":"settle orders"},"to":"2026-11-21T06:00:00.000Z","comment":"the ledger moves"}
//	@Success 201 {object} vo.Silence
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/alert-silences [post]
func (s *SilenceController) Create(c *gin.Context) error { return s.s.create(c) }

// Get answers GET /alert-silences/{id}.
//
//	@Summary Show one silence
//	@Tags alerts
//	@Param id path string true "id of the silence"
//	@Success 200 {object} vo.Silence
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/alert-silences/{id} [get]
func (s *SilenceController) Get(c *gin.Context) error { return s.s.get(c) }

// Replace answers PUT /alert-silences/{id}.
//
//	@Summary Replace a silence
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the silence"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.SilenceBody true "body"
//	@x-example {"name":"the move","match":{"job":"settle orders"},"to":"2026-11-21T09:00:00.000Z","version":1}
//	@Success 200 {object} vo.Silence
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-silences/{id} [put]
func (s *SilenceController) Replace(c *gin.Context) error { return s.s.replace(c) }

// Delete answers DELETE /alert-silences/{id}.
//
//	@Summary Delete a silence
//	@Tags alerts
//	@Param id path string true "id of the silence"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "others name it, or somebody changed it at the same time"
//	@Router /api/v1/alert-silences/{id} [delete]
func (s *SilenceController) Delete(c *gin.Context) error { return s.s.remove(c) }
