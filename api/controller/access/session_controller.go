package access

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
)

// SessionService lists and ends sign-ins that go on.
type SessionService interface {
	// Sessions are those of a user, latest first; token is the caller's.
	Sessions(ctx context.Context, userID, token string) ([]access.Session, error)
	// EndSessions ends all of a user but that of keepToken, where it is set.
	EndSessions(ctx context.Context, userID, keepToken string) (ended int, err error)
}

// SessionController serves the sessions of users: one's own, and to admins those of others.
type SessionController struct {
	sessions SessionService
	users    UserService
}

// NewSessionController serves the sessions of a service.
func NewSessionController(sessions SessionService, users UserService) *SessionController {
	return &SessionController{sessions, users}
}

// List answers GET /auth/sessions.
//
//	@Summary List one's own sessions, latest first
//	@Description At most 100: one more sign-in ends the oldest. Not for API tokens.
//	@Tags auth
//	@Success 200 {object} vo.Page[vo.Session]
//	@Router /api/v1/auth/sessions [get]
func (s *SessionController) List(c *gin.Context) error {
	who, _ := middleware.UserOf(c)
	found, err := s.sessions.Sessions(c.Request.Context(), who.ID, middleware.TokenOf(c))
	if err != nil {
		return err
	}
	items := make([]vo.Session, len(found))
	for i, v := range found {
		items[i] = vo.FromSession(v)
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(items, ""))
}

// EndOthers answers DELETE /auth/sessions.
//
//	@Summary End one's own sessions but the one of the call
//	@Description API tokens stay. Not for API tokens.
//	@Tags auth
//	@Success 204 "done, no body"
//	@Router /api/v1/auth/sessions [delete]
func (s *SessionController) EndOthers(c *gin.Context) error {
	who, _ := middleware.UserOf(c)
	middleware.SetTarget(c, who.ID)
	middleware.SetTargetName(c, who.Name)
	return s.end(c, who.ID, middleware.TokenOf(c))
}

// EndOf answers DELETE /users/{id}/sessions.
//
//	@Summary End the sessions of a user
//	@Description The user may sign in again; API tokens stay. Not for API tokens.
//	@Tags users
//	@Param id path string true "id of the user"
//	@Success 204 "done, no body"
//	@Router /api/v1/users/{id}/sessions [delete]
func (s *SessionController) EndOf(c *gin.Context) error {
	user, err := s.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, user.Name)
	return s.end(c, user.ID, "")
}

func (s *SessionController) end(c *gin.Context, userID, keepToken string) error {
	n, err := s.sessions.EndSessions(c.Request.Context(), userID, keepToken)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{"sessionsEnded": {nil, n}})
	return reply.NoContent(c)
}
