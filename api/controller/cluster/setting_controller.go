package cluster

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// SettingController serves the settings of this node.
type SettingController struct{ settings vo.Settings }

// NewSettingController serves settings, which hold no secret.
func NewSettingController(settings vo.Settings) *SettingController {
	if settings.Items == nil {
		settings.Items = []vo.Setting{}
	}
	return &SettingController{settings}
}

// List answers GET /settings.
//
//	@Summary List the settings of the node that answers
//	@Description Read only, without secrets. A change needs a restart of the node.
//	@Tags monitor
//	@Success 200 {object} vo.Settings
//	@Router /api/v1/settings [get]
func (s *SettingController) List(c *gin.Context) error {
	return reply.JSON(c, http.StatusOK, s.settings)
}
