package alerting

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// ContactService manages contacts.
type ContactService = SettingService[alert.Contact, *alert.Contact]

// ContactController serves /contacts.
type ContactController struct {
	s settings[alert.Contact, *alert.Contact]
}

// NewContactController serves the contacts of a service.
func NewContactController(service ContactService) *ContactController {
	return &ContactController{settings[alert.Contact, *alert.Contact]{
		alert.KindContact, service, request.ReadContact, func(v *alert.Contact, who entity.Principal) any {
			return vo.FromContact(v, who)
		},
		nil,
	}}
}

// List answers GET /contacts.
//
//	@Summary List the contacts
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Contact]
//	@Router /api/v1/contacts [get]
func (k *ContactController) List(c *gin.Context) error { return k.s.list(c) }

// Create answers POST /contacts.
//
//	@Summary Make a contact
//	@Description How a user is reached: a mail address, a phone number, a chat id, or several of them.
//	@Tags alerts
//	@Param body body request.ContactBody true "body"
//	@x-example {"name":"ann","userId":"id-of-ann","email":"ann@example.com"}
//	@Success 201 {object} vo.Contact
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/contacts [post]
func (k *ContactController) Create(c *gin.Context) error { return k.s.create(c) }

// Get answers GET /contacts/{id}.
//
//	@Summary Show one contact
//	@Tags alerts
//	@Param id path string true "id of the contact"
//	@Success 200 {object} vo.Contact
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/contacts/{id} [get]
func (k *ContactController) Get(c *gin.Context) error { return k.s.get(c) }

// Replace answers PUT /contacts/{id}.
//
//	@Summary Replace a contact
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the contact"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.ContactBody true "body"
//	@x-example {"name":"ann","userId":"id-of-ann","phone":"+86 10 1234 5678","version":1}
//	@Success 200 {object} vo.Contact
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/contacts/{id} [put]
func (k *ContactController) Replace(c *gin.Context) error { return k.s.replace(c) }

// Delete answers DELETE /contacts/{id}.
//
//	@Summary Delete a contact
//	@Tags alerts
//	@Param id path string true "id of the contact"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "others name it, or somebody changed it at the same time"
//	@Router /api/v1/contacts/{id} [delete]
func (k *ContactController) Delete(c *gin.Context) error { return k.s.remove(c) }
