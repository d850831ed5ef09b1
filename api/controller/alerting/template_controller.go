package alerting

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// TemplateService manages templates.
type TemplateService = SettingService[alert.Template, *alert.Template]

// Previews makes messages of sample alerts.
type Previews interface {
	// Preview is an apperror.KindInvalid with all that is wrong with the template.
	Preview(ctx context.Context, t *alert.Template, of alert.ChannelType, language string) (alert.Content, error)
}

// TemplateController serves /alert-templates.
type TemplateController struct {
	s        settings[alert.Template, *alert.Template]
	previews Previews
}

// NewTemplateController serves the templates of a service.
func NewTemplateController(service TemplateService, previews Previews) *TemplateController {
	return &TemplateController{settings[alert.Template, *alert.Template]{
		kind: alert.KindTemplate, service: service, read: request.ReadTemplate,
		view: func(v *alert.Template, _ entity.Principal) any { return vo.FromTemplate(v) },
	}, previews}
}

// Preview answers POST /alert-templates/preview.
//
//	@Summary Show a message of a template
//	@Description Fills the template with a sample alert, in a language, for a type of channel. Nothing is stored or sent.
//	@Tags alerts
//	@Param body body request.TemplatePreviewBody true "body"
//	@x-example {"title":{"en":"{{.Subject}}: {{.TypeName}}"},"channelType":"SLACK"}
//	@Success 200 {object} vo.Message
//	@Router /api/v1/alert-templates/preview [post]
func (t *TemplateController) Preview(c *gin.Context) error {
	p, err := request.ReadTemplatePreview(c.Request)
	if err != nil {
		return err
	}
	content, err := t.previews.Preview(c.Request.Context(), p.Template, p.Type, p.Language)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromContent(content))
}

// List answers GET /alert-templates.
//
//	@Summary List the templates
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Template]
//	@Router /api/v1/alert-templates [get]
func (t *TemplateController) List(c *gin.Context) error { return t.s.list(c) }

// Create answers POST /alert-templates.
//
//	@Summary Make a template
//	@Description Each form has a text in en, zh or both; a form without one is that of the product. It is tried with sample alerts.
//	@Tags alerts
//	@Param body body request.TemplateBody true "body"
//	@x-example {"name":"short","title":{"en":"{{.Subject}}: {{.TypeName}}"}}
//	@Success 201 {object} vo.Template
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/alert-templates [post]
func (t *TemplateController) Create(c *gin.Context) error { return t.s.create(c) }

// Get answers GET /alert-templates/{id}.
//
//	@Summary Show one template
//	@Tags alerts
//	@Param id path string true "id of the template"
//	@Success 200 {object} vo.Template
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/alert-templates/{id} [get]
func (t *TemplateController) Get(c *gin.Context) error { return t.s.get(c) }

// Replace answers PUT /alert-templates/{id}.
//
//	@Summary Replace a template
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the template"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.TemplateBody true "body"
//	@x-example {"name":"short","title":{"en":"{{.Subject}}"},"version":1}
//	@Success 200 {object} vo.Template
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-templates/{id} [put]
func (t *TemplateController) Replace(c *gin.Context) error { return t.s.replace(c) }

// Delete answers DELETE /alert-templates/{id}.
//
//	@Summary Delete a template
//	@Tags alerts
//	@Param id path string true "id of the template"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "routes name it, or somebody changed it at the same time"
//	@Router /api/v1/alert-templates/{id} [delete]
func (t *TemplateController) Delete(c *gin.Context) error { return t.s.remove(c) }
