package alerting

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Each constructor documents the POST of its kind, which is different; api/openapi makes the other four
// operations from it and from those of Settings.

// NewSilenceController serves /alert-silences. The clock says which silences are active.
//
//	@Summary Make a silence
//	@Description Messages of alerts that have all the labels are held back until then; the alerts themselves go on. It begins now where from is absent, and ends at most 366 days later. A silence of a group holds back alerts of that group alone.
//	@Param body body vo.Silence true "body"
//	@x-example {"match":{"job":"settle orders"},"to":"2026-11-21T06:00:00.000Z","comment":"the ledger moves"}
//	@x-replace {"name":"the move","match":{"job":"settle orders"},"to":"2026-11-21T09:00:00.000Z","version":1}
//	@x-plural "silences"
//	@x-conflict "others name it"
//	@Success 201 {object} vo.Silence
//	@Router /api/v1/alert-silences [post]
func NewSilenceController(service *alerting.SilenceService, c clock.Clock) *Settings[alert.Silence, *alert.Silence] {
	return &Settings[alert.Silence, *alert.Silence]{
		kind: alert.KindSilence, service: service, read: request.ReadSilence,
		view: func(v *alert.Silence, _ entity.Principal) any { return vo.FromSilence(v, c.Now()) },
		permit: func(c *gin.Context, _, next *alert.Silence) error {
			next.By = middleware.ActorOf(c).User
			return nil
		},
	}
}

// NewRouteController serves /alert-routes.
//
//	@Summary Make an alert route
//	@Description Routes are asked in the order of their positions. The first that matches takes the alert, unless it says continue.
//	@Param body body vo.Route true "body"
//	@x-example {"name":"critical","match":{"severity":"CRITICAL"},"channelIds":[],"continue":true}
//	@x-replace {"name":"critical","match":{"severity":"CRITICAL"},"channelIds":[],"continue":true,"repeatSec":3600,"version":1}
//	@x-plural "routes"
//	@x-conflict "others name it"
//	@Success 201 {object} vo.Route
//	@Router /api/v1/alert-routes [post]
func NewRouteController(service *alerting.RouteService) *Settings[alert.Route, *alert.Route] {
	return &Settings[alert.Route, *alert.Route]{
		kind: alert.KindRoute, service: service, read: request.ReadRoute,
		view: func(v *alert.Route, _ entity.Principal) any { return vo.FromRoute(v) },
	}
}

// NewTeamController serves /teams.
//
//	@Summary Make a team
//	@Description A team has users, channels that reach all of them, or both.
//	@Param body body vo.Team true "body"
//	@x-example {"name":"billing","members":["id-of-ann"]}
//	@x-replace {"name":"billing","members":["id-of-ann"],"version":1}
//	@x-plural "teams"
//	@x-conflict "on-call plans name it"
//	@Success 201 {object} vo.Team
//	@Router /api/v1/teams [post]
func NewTeamController(service *alerting.TeamService) *Settings[alert.Team, *alert.Team] {
	return &Settings[alert.Team, *alert.Team]{
		kind: alert.KindTeam, service: service, read: request.ReadTeam,
		view: func(v *alert.Team, _ entity.Principal) any { return vo.FromTeam(v) },
	}
}

// NewContactController serves /contacts.
//
//	@Summary Make a contact
//	@Description How a user is reached: a mail address, a phone number, a chat id, or several of them.
//	@Param body body vo.Contact true "body"
//	@x-example {"name":"ann","userId":"id-of-ann","email":"ann@example.com"}
//	@x-replace {"name":"ann","userId":"id-of-ann","phone":"+86 10 1234 5678","version":1}
//	@x-plural "contacts"
//	@x-conflict "others name it"
//	@Success 201 {object} vo.Contact
//	@Router /api/v1/contacts [post]
func NewContactController(service *alerting.ContactService) *Settings[alert.Contact, *alert.Contact] {
	return &Settings[alert.Contact, *alert.Contact]{
		kind: alert.KindContact, service: service, read: request.ReadContact,
		view: func(v *alert.Contact, who entity.Principal) any { return vo.FromContact(v, who) },
	}
}

// NewOnCallController serves /on-call.
//
//	@Summary Make an on-call plan
//	@Description Shifts are by the wall clock of the plan's zone. One that ends at or before its beginning ends on the day after.
//	@Param body body vo.OnCall true "body"
//	@x-example {"name":"nights","timeZone":"Asia/Shanghai","shifts":[{"teamId":"0190a5e0-7c00-7000-8000-000000000001","from":"18:00","to":"09:00"}]}
//	@x-replace {"name":"nights","timeZone":"Asia/Shanghai","shifts":[{"teamId":"0190a5e0-7c00-7000-8000-000000000001","from":"19:00","to":"08:00"}],"version":1}
//	@x-plural "on-call plans"
//	@x-conflict "routes name it"
//	@Success 201 {object} vo.OnCall
//	@Router /api/v1/on-call [post]
func NewOnCallController(service *alerting.OnCallService) *Settings[alert.OnCall, *alert.OnCall] {
	return &Settings[alert.OnCall, *alert.OnCall]{
		kind: alert.KindOnCall, service: service, read: request.ReadOnCall,
		view: func(v *alert.OnCall, _ entity.Principal) any { return vo.FromOnCall(v) },
	}
}

// ChannelController serves /alert-channels.
type ChannelController struct {
	*Settings[alert.Channel, *alert.Channel]
	trials *channel.Trials
}

// NewChannelController serves the channels of a service.
//
//	@Summary Make a channel
//	@Description The configuration has the fields of the type; its secrets are written and never read. It is not tried: see /test.
//	@Param body body request.ChannelBody true "body"
//	@x-example {"name":"billing hook","type":"WEBHOOK","config":{"url":"https://hooks.example.com/alerts","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}
//	@x-replace {"name":"billing hook","type":"WEBHOOK","config":{"url":"https://hooks.example.com/alerts"},"version":1}
//	@x-plural "channels"
//	@x-conflict "rules, routes or teams name it"
//	@Success 201 {object} vo.Channel
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or there is no key to seal secrets"
//	@Router /api/v1/alert-channels [post]
func NewChannelController(service *alerting.ChannelService, trials *channel.Trials) *ChannelController {
	return &ChannelController{&Settings[alert.Channel, *alert.Channel]{
		kind: alert.KindChannel, service: service, read: request.ReadChannel,
		view: func(v *alert.Channel, who entity.Principal) any { return vo.FromChannel(v, who) },
	}, trials}
}

// Test answers POST /alert-channels/{id}/test.
//
//	@Summary Send a test message through a channel
//	@Description The message goes out as any other. The answer is 200 also where the receiver did not take it: result says so, and the audit log keeps it. One test of a channel in 5 s.
//	@Success 200 {object} vo.ChannelTest
//	@Failure 429 {object} problem.Problem "the channel was tried a moment ago"
//	@Router /api/v1/alert-channels/{id}/test [post]
func (t *ChannelController) Test(c *gin.Context) error {
	v, err := t.writable(c)
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

// TemplateController serves /alert-templates.
type TemplateController struct {
	*Settings[alert.Template, *alert.Template]
	previews *alerting.Previews
}

// NewTemplateController serves the templates of a service.
//
//	@Summary Make a template
//	@Description Each form has a text in en, zh or both; a form without one is that of the product. It is tried with sample alerts.
//	@Param body body vo.Template true "body"
//	@x-example {"name":"short","title":{"en":"{{.Subject}}: {{.TypeName}}"}}
//	@x-replace {"name":"short","title":{"en":"{{.Subject}}"},"version":1}
//	@x-plural "templates"
//	@x-conflict "routes name it"
//	@Success 201 {object} vo.Template
//	@Router /api/v1/alert-templates [post]
func NewTemplateController(service *alerting.TemplateService, previews *alerting.Previews) *TemplateController {
	return &TemplateController{&Settings[alert.Template, *alert.Template]{
		kind: alert.KindTemplate, service: service, read: request.ReadTemplate,
		view: func(v *alert.Template, _ entity.Principal) any { return vo.FromTemplate(v) },
	}, previews}
}

// Preview answers POST /alert-templates/preview.
//
//	@Summary Show a message of a template
//	@Description Fills the template with a sample alert, in a language, for a type of channel. Nothing is stored or sent. A form has 100 ms; a loop over a number is refused.
//	@Param body body request.TemplatePreviewBody true "body"
//	@x-example {"title":{"en":"{{.Subject}}: {{.TypeName}}"},"channelType":"SLACK"}
//	@Success 200 {object} vo.Message
//	@Failure 429 {object} problem.Problem "you, or others, have previews under way: try again in a moment (busy)"
//	@Router /api/v1/alert-templates/preview [post]
func (t *TemplateController) Preview(c *gin.Context) error {
	p, err := request.ReadTemplatePreview(c.Request, t.previews.Types())
	if err != nil {
		return err
	}
	who, _ := middleware.CallerOf(c)
	content, err := t.previews.Preview(c.Request.Context(), who.User.ID, p.Template, p.Type, p.Language)
	return reply.Shown(c, content, err, vo.FromContent)
}
