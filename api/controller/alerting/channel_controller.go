package alerting

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// ChannelService manages channels.
type ChannelService = SettingService[alert.Channel, *alert.Channel]

// ChannelTrials sends test messages.
type ChannelTrials interface {
	// Try is apperror.KindTooMany where the channel was tried a moment ago.
	Try(ctx context.Context, id string) (channel.Trial, error)
}

// ChannelController serves /alert-channels.
type ChannelController struct {
	s      settings[alert.Channel, *alert.Channel]
	trials ChannelTrials
}

// NewChannelController serves the channels of a service.
func NewChannelController(service ChannelService, trials ChannelTrials) *ChannelController {
	return &ChannelController{settings[alert.Channel, *alert.Channel]{
		kind: alert.KindChannel, service: service, read: request.ReadChannel, view: func(v *alert.Channel,
			who entity.Principal,
		) any {
			return vo.FromChannel(v, who)
		},
	}, trials}
}

// Test answers POST /alert-channels/{id}/test.
//
//	@Summary Send a test message through a channel
//	@Description The message goes out as any other. The answer is 200 also where the receiver did not take it: result says so, and the audit log keeps it. One test of a channel in 5 s.
//	@Tags alerts
//	@Param id path string true "id of the channel"
//	@Success 200 {object} vo.ChannelTest
//	@Failure 429 {object} problem.Problem "the channel was tried a moment ago"
//	@Router /api/v1/alert-channels/{id}/test [post]
func (t *ChannelController) Test(c *gin.Context) error {
	v, err := t.s.writable(c)
	if err != nil {
		return err
	}
	trial, err := t.trials.Try(c.Request.Context(), v.ID)
	if err != nil {
		return err
	}
	view := vo.FromTrial(trial)
	middleware.SetDiff(c, nil, view)
	return reply.JSON(c, http.StatusOK, view)
}

// List answers GET /alert-channels.
//
//	@Summary List the channels
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Channel]
//	@Router /api/v1/alert-channels [get]
func (t *ChannelController) List(c *gin.Context) error { return t.s.list(c) }

// Create answers POST /alert-channels.
//
//	@Summary Make a channel
//	@Description The configuration has the fields of the type; its secrets are written and never read. It is not tried: see /test.
//	@Tags alerts
//	@Param body body request.ChannelBody true "body"
//	@x-example {"name":"billing hook","type":"WEBHOOK","config":{"url":"https://hooks.example.com/alerts","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}
//	@Success 201 {object} vo.Channel
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or there is no key to seal secrets"
//	@Router /api/v1/alert-channels [post]
func (t *ChannelController) Create(c *gin.Context) error { return t.s.create(c) }

// Get answers GET /alert-channels/{id}.
//
//	@Summary Show one channel
//	@Tags alerts
//	@Param id path string true "id of the channel"
//	@Success 200 {object} vo.Channel
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/alert-channels/{id} [get]
func (t *ChannelController) Get(c *gin.Context) error { return t.s.get(c) }

// Replace answers PUT /alert-channels/{id}.
//
//	@Summary Replace a channel
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the channel"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.ChannelBody true "body"
//	@x-example {"name":"billing hook","type":"WEBHOOK","config":{"url":"https://hooks.example.com/alerts"},"version":1}
//	@Success 200 {object} vo.Channel
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-channels/{id} [put]
func (t *ChannelController) Replace(c *gin.Context) error { return t.s.replace(c) }

// Delete answers DELETE /alert-channels/{id}.
//
//	@Summary Delete a channel
//	@Tags alerts
//	@Param id path string true "id of the channel"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "rules, routes or teams name it, or somebody changed it at the same time"
//	@Router /api/v1/alert-channels/{id} [delete]
func (t *ChannelController) Delete(c *gin.Context) error { return t.s.remove(c) }
