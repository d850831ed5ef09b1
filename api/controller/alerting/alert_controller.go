// Package alerting translates between HTTP and the use cases of alerts, and of what people
// define for them. Controllers are safe for concurrent use.
package alerting

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// AlertController serves /alerts. Which alerts a caller sees and steers goes by their groups.
type AlertController struct{ Alerts *alerting.AlertService }

// List answers GET /alerts.
//
//	@Summary List alerts, newest first
//	@Description Callers who are bound to groups see alerts about these groups alone. from and to bound when the episode began. deliveries has the latest messages, each with its latest attempt. A page may be short, or empty, and still have a nextCursor: send it as cursor to go on; null ends the list.
//	@Param status query string false "one or more of PENDING, FIRING, ACKNOWLEDGED, RESOLVED, with commas between them" maxlength(512)
//	@Param level query string false "level" enums(INFO,WARNING,CRITICAL)
//	@Param type query string false "type of the rule, such as JOB_FAILED" maxlength(512)
//	@Param ruleId query string false "id of the rule" maxlength(512)
//	@Param jobId query string false "id of the job" maxlength(512)
//	@Param group query string false "group of the job" maxlength(512)
//	@Param nodeId query string false "id of the node" maxlength(512)
//	@Param labels query string false "labels that alerts must have, such as team=billing,tier=1; a comma inside of a value is \\, and a backslash \\\\" maxlength(512)
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Success 200 {object} vo.Page[vo.Alert]
//	@Router /api/v1/alerts [get]
func (a *AlertController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := request.AlertFilter(q)
	f.Groups = middleware.VisibleGroups(c)
	group, page := q.Text("group"), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	if who, _ := middleware.CallerOf(c); group != "" {
		f.Groups = []string{}
		if permission.SeesAlerts(who, group) {
			f.Groups = []string{group}
		}
	}
	found, next, err := a.Alerts.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	return reply.Found(c, page, found, next, vo.FromAlert)
}

// Get answers GET /alerts/{id}.
//
//	@Summary Show one alert
//	@Description deliveries has every attempt to tell of it that is kept, at most 200.
//	@Success 200 {object} vo.Alert
//	@Router /api/v1/alerts/{id} [get]
func (a *AlertController) Get(c *gin.Context) error {
	one, err := a.seen(c)
	return reply.Shown(c, one, err, vo.FromAlert)
}

// seen reads the alert that the path names. An object that the caller may not see does not exist.
func (a *AlertController) seen(c *gin.Context) (alerting.Shown, error) {
	who, _ := middleware.CallerOf(c)
	one, err := a.Alerts.Get(c.Request.Context(), c.Param("id"))
	if err == nil && !permission.SeesAlerts(who, one.Group) {
		return one, apperror.NotFound("alert", c.Param("id"))
	}
	return one, err
}

// Acknowledge answers POST /alerts/{id}/ack.
//
//	@Summary Say that somebody takes care of an alert
//	@Description It stops repeats and escalation; the alert still resolves by itself. A second time changes nothing. The body may be empty.
//	@Param body body request.CommentBody false "a comment"
//	@x-example {"comment":"the disk is being replaced"}
//	@Success 200 {object} vo.Alert
//	@Failure 409 {object} problem.Problem "the alert is over, or does not fire yet"
//	@Router /api/v1/alerts/{id}/ack [post]
func (a *AlertController) Acknowledge(c *gin.Context) error {
	return a.change(c, permission.AlertAck, a.Alerts.Acknowledge)
}

// Resolve answers POST /alerts/{id}/resolve.
//
//	@Summary End an alert by hand
//	@Description The same evidence never opens another alert. A state, such as a node that is down, is quiet until it is well and wrong again. The body may be empty.
//	@Param body body request.CommentBody false "a comment"
//	@x-example {"comment":"the source was late; it has caught up"}
//	@Success 200 {object} vo.Alert
//	@Failure 409 {object} problem.Problem "the alert is over"
//	@Router /api/v1/alerts/{id}/resolve [post]
func (a *AlertController) Resolve(c *gin.Context) error {
	return a.change(c, permission.AlertWrite, a.Alerts.Resolve)
}

func (a *AlertController) change(c *gin.Context, p permission.Permission,
	do func(ctx context.Context, id, by, comment string) (alerting.Shown, error),
) error {
	comment, err := request.ReadComment(c.Request)
	if err != nil {
		return err
	}
	before, err := a.seen(c)
	if err != nil {
		return err
	}
	if err := middleware.PermitFor(c, p, before.Group); err != nil {
		return err
	}
	middleware.SetTargetName(c, nameOf(before.Alert))
	after, err := do(c.Request.Context(), before.ID, middleware.ActorOf(c).User, comment)
	if err != nil {
		return err
	}
	middleware.SetDiff(c, steered(before.Alert), steered(after.Alert))
	return reply.JSON(c, http.StatusOK, vo.FromAlert(after))
}

// nameOf is what people know an alert by.
func nameOf(a *alert.Alert) string {
	for _, name := range []string{a.Labels["job"], a.Labels["node"]} {
		if name != "" {
			return string(a.Type) + " " + name
		}
	}
	return string(a.Type)
}

// steered is what people change of an alert.
func steered(a *alert.Alert) any {
	return map[string]any{
		"status": a.Status, "ackedBy": a.AckedBy, "resolvedBy": a.ResolvedBy, "comment": a.Comment,
	}
}
