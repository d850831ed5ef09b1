package alerting

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Settings serves what people define of one kind. The group of each definition decides whether a caller may see and
// write it. The annotations are those of rules; api/openapi makes those of other kinds.
type Settings[T any, P alert.Defined[T]] struct {
	kind    alert.Kind
	service *alerting.Settings[T, P]
	read    func(r *http.Request) (request.Definition[T], error)
	view    func(v P, who entity.Principal) any
	// permit says what the caller may not do with one that is saved, and notes who saves it;
	// may be nil. former is nil for a new one.
	permit func(c *gin.Context, former, next P) error
}

// write is the right to write one of the kind.
func (s *Settings[T, P]) write() permission.Permission { return permission.OfSetting(s.kind) }

func (s *Settings[T, P]) viewFor(c *gin.Context, v P) any {
	who, _ := middleware.CallerOf(c)
	return s.view(v, who)
}

// audited is what the audit log keeps of a view.
func audited(view any) any {
	switch v := view.(type) {
	case vo.Channel:
		return v.Noted()
	case vo.Silence:
		v.Warnings = nil // told to who saved it; nobody has changed them
		return v
	}
	return view
}

// List answers GET of the path of the kind.
//
//	@Summary List the rules
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.Rule]
//	@Router /api/v1/alert-rules [get]
func (s *Settings[T, P]) List(c *gin.Context) error {
	visible := middleware.VisibleGroups(c)
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]P, string, error) {
		return s.service.List(ctx, visible, p)
	}, func(v P) any { return s.viewFor(c, v) })
}

// seen reads the definition that the path names, if the caller may see it.
func (s *Settings[T, P]) seen(c *gin.Context) (P, error) {
	who, _ := middleware.CallerOf(c)
	v, err := s.service.Get(c.Request.Context(), c.Param("id"))
	if err == nil && !permission.SeesSetting(who, alert.HeadOf(v).Group) {
		return nil, apperror.NotFound(s.kind.Noun(), c.Param("id"))
	}
	return v, err
}

// writable reads the definition that the path names, if the caller may write it.
func (s *Settings[T, P]) writable(c *gin.Context) (P, error) {
	v, err := s.seen(c)
	if err != nil {
		return nil, err
	}
	middleware.SetTargetName(c, alert.HeadOf(v).Name)
	return v, middleware.PermitFor(c, s.write(), alert.HeadOf(v).Group)
}

// Get answers GET with an id.
//
//	@Summary Show one alert rule
//	@Param id path string true "id of the alert rule"
//	@Success 200 {object} vo.Rule
//	@Failure 409 {object} problem.Problem "what the store holds of it cannot be read"
//	@Router /api/v1/alert-rules/{id} [get]
func (s *Settings[T, P]) Get(c *gin.Context) error {
	v, err := s.seen(c)
	if err != nil {
		return err
	}
	return s.reply(c, http.StatusOK, v)
}

// Create answers POST; the constructors document it.
func (s *Settings[T, P]) Create(c *gin.Context) error {
	d, err := s.body(c, nil, s.write())
	if err != nil {
		return err
	}
	v, err := s.service.Create(c.Request.Context(), d.Value)
	if err != nil {
		return err
	}
	h := alert.HeadOf(v)
	middleware.SetTarget(c, h.ID)
	middleware.SetTargetName(c, h.Name)
	middleware.SetDiff(c, nil, audited(s.viewFor(c, v)))
	c.Header("Location", c.Request.URL.Path+"/"+h.ID)
	return s.reply(c, http.StatusCreated, v)
}

// body reads a definition and judges it, where former is the one that it replaces, and the
// caller needs a right in its group. All that is wrong is told at once.
func (s *Settings[T, P]) body(c *gin.Context, former P, right permission.Permission) (request.Definition[T], error) {
	d, bound := s.read(c.Request)
	if bound != nil && !apperror.Is(bound, apperror.KindInvalid) || d.Value == nil {
		return d, bound
	}
	next := alert.HeadOf(P(d.Value))
	var moved error
	if former != nil {
		group := alert.HeadOf(former).Group
		if next.Group != "" && next.Group != group {
			moved = apperror.InvalidField("group", "unchangeable",
				fmt.Sprintf("a %s stays in its group: make another one there, and delete this one", s.kind.Noun()))
		}
		next.Group = group
	}
	if err := middleware.PermitFor(c, right, next.Group); err != nil {
		if bound != nil { // the group may be what is wrong
			return d, bound
		}
		return d, err
	}
	if bound == nil {
		bound = moved
	} else {
		bound = request.JoinFaults(bound, moved)
	}
	if bound != nil {
		return d, request.JoinFaults(bound, s.service.Check(c.Request.Context(), former, d.Value))
	}
	if s.permit != nil {
		return d, s.permit(c, former, d.Value)
	}
	return d, nil
}

// Replace answers PUT with an id.
//
//	@Summary Replace an alert rule
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Param id path string true "id of the alert rule"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body vo.Rule true "body"
//	@Success 200 {object} vo.Rule
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-rules/{id} [put]
func (s *Settings[T, P]) Replace(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	former, err := s.writable(c)
	if err != nil {
		return err
	}
	d, err := s.body(c, former, s.write())
	if err != nil {
		return err
	}
	switch {
	case d.Version == 0 && ifMatch == 0 && !given:
		return apperror.InvalidField("version", "required", "must be the version that you have read, or send it as If-Match")
	case ifMatch != 0 && d.Version != 0 && d.Version != ifMatch:
		return apperror.InvalidField("version", "conflict", "is another version than that of If-Match")
	case d.Version == 0 && ifMatch == 0: // If-Match: *
		d.Version = alert.HeadOf(former).Version
	case d.Version == 0:
		d.Version = ifMatch
	}
	before := s.viewFor(c, former)
	v, err := s.service.Replace(c.Request.Context(), former, d.Value, d.Version)
	if err != nil {
		return request.EditFailed(err, given)
	}
	middleware.SetDiff(c, audited(before), audited(s.viewFor(c, v)))
	return s.reply(c, http.StatusOK, v)
}

// Delete answers DELETE with an id.
//
//	@Summary Delete an alert rule
//	@Param id path string true "id of the alert rule"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Failure 409 {object} problem.Problem "it is a rule of the first start, which can be switched off, or somebody changed it at the same time"
//	@Router /api/v1/alert-rules/{id} [delete]
func (s *Settings[T, P]) Delete(c *gin.Context) error {
	ifMatch, _, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	v, err := s.writable(c)
	if err != nil {
		return err
	}
	if now := alert.HeadOf(v).Version; ifMatch != 0 && ifMatch != now {
		return request.VersionMismatch(s.kind.Noun(), now, ifMatch)
	}
	return reply.Done(c, s.service.Delete(c.Request.Context(), v))
}

func (s *Settings[T, P]) reply(c *gin.Context, status int, v P) error {
	c.Header("ETag", request.ETag(alert.HeadOf(v).Version))
	return reply.JSON(c, status, s.viewFor(c, v))
}
