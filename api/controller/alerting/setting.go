package alerting

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// definition is a pointer to what people define.
type definition[T any] interface {
	*T
	alert.Headed
}

// SettingService manages one kind of what people define.
type SettingService[T any, P definition[T]] interface {
	// List is a page by name of those of some groups, and of those for all; nil is all.
	List(ctx context.Context, groups []string, p repository.Page) (found []P, next string, err error)
	// Get returns apperror.KindNotFound for an unknown id.
	Get(ctx context.Context, id string) (P, error)
	// Check lists all that is wrong; former is nil for a new one.
	Check(ctx context.Context, former, next P) error
	Create(ctx context.Context, v P) (P, error)
	// Replace is apperror.KindConflict when the stored version is another.
	Replace(ctx context.Context, former, next P, version int) (P, error)
	// Delete is apperror.KindConflict when others name it.
	Delete(ctx context.Context, v P) error
}

// settings is what the controllers of all kinds have in common. What a caller may see and
// write goes by the group of each definition.
type settings[T any, P definition[T]] struct {
	kind    alert.Kind
	service SettingService[T, P]
	read    func(r *http.Request) (request.Definition[T], error)
	view    func(v P, who entity.Principal) any
	// permit says what the caller may not do with one that is saved, and notes who saves it;
	// may be nil. former is nil for a new one.
	permit func(c *gin.Context, former, next P) error
}

// write is the right to write one of the kind.
func (s *settings[T, P]) write() permission.Permission {
	if s.kind == alert.KindChannel {
		return permission.ChannelWrite
	}
	return permission.AlertWrite
}

func (s *settings[T, P]) viewFor(c *gin.Context, v P) any {
	who, _ := middleware.CallerOf(c)
	return s.view(v, who)
}

func (s *settings[T, P]) list(c *gin.Context) error {
	visible := middleware.VisibleGroups(c)
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]P, string, error) {
		return s.service.List(ctx, visible, p)
	}, func(v P) any { return s.viewFor(c, v) })
}

// seen reads the definition that the path names, if the caller may see it.
func (s *settings[T, P]) seen(c *gin.Context) (P, error) {
	who, _ := middleware.CallerOf(c)
	v, err := s.service.Get(c.Request.Context(), c.Param("id"))
	if err == nil && !permission.SeesSetting(who, alert.HeadOf(v).Group) {
		return nil, apperror.NotFound(s.kind.Noun(), c.Param("id"))
	}
	return v, err
}

// writable reads the definition that the path names, if the caller may write it.
func (s *settings[T, P]) writable(c *gin.Context) (P, error) {
	v, err := s.seen(c)
	if err != nil {
		return nil, err
	}
	middleware.SetTargetName(c, alert.HeadOf(v).Name)
	return v, middleware.PermitFor(c, s.write(), alert.HeadOf(v).Group)
}

func (s *settings[T, P]) get(c *gin.Context) error {
	v, err := s.seen(c)
	if err != nil {
		return err
	}
	return s.reply(c, http.StatusOK, v)
}

func (s *settings[T, P]) create(c *gin.Context) error {
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
	middleware.SetDiff(c, nil, s.viewFor(c, v))
	c.Header("Location", c.Request.URL.Path+"/"+h.ID)
	return s.reply(c, http.StatusCreated, v)
}

// body reads a definition and judges it, where former is the one that it replaces, and the
// caller needs a right in its group. All that is wrong is told at once.
func (s *settings[T, P]) body(c *gin.Context, former P, right permission.Permission) (request.Definition[T], error) {
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

func (s *settings[T, P]) replace(c *gin.Context) error {
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
	if given && isStale(err) {
		return apperror.New(apperror.KindPrecondition, "version_mismatch", err.Error())
	}
	if err != nil {
		return err
	}
	middleware.SetDiff(c, before, s.viewFor(c, v))
	return s.reply(c, http.StatusOK, v)
}

// isStale reports that an edit was of a former version.
func isStale(err error) bool {
	var f *apperror.Error
	return errors.As(err, &f) && f.Code == "stale_version"
}

func (s *settings[T, P]) remove(c *gin.Context) error {
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
	if err := s.service.Delete(c.Request.Context(), v); err != nil {
		return err
	}
	return reply.NoContent(c)
}

func (s *settings[T, P]) reply(c *gin.Context, status int, v P) error {
	c.Header("ETag", request.ETag(alert.HeadOf(v).Version))
	return reply.JSON(c, status, s.viewFor(c, v))
}
