// Package access translates between HTTP and the use cases of sign-in, users, tokens,
// secrets and the audit log. Controllers hold no state of their own and are safe for
// concurrent use.
package access

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// AuthService signs people in and out.
type AuthService interface {
	Login(ctx context.Context, name, password, clientAddr string) (access.Login, error)
	Logout(ctx context.Context, token string) error
	Authenticate(ctx context.Context, token string) (entity.Principal, error)
	AuthenticateAll(ctx context.Context, tokens []string) (map[string]entity.Principal, error)
	ChangePassword(ctx context.Context, userID string, change access.PasswordChange) (*access.Login, error)
	// Sessions are those of a user, latest first; token is the caller's.
	Sessions(ctx context.Context, userID, token string) ([]access.Session, error)
	// EndSessions ends all of a user but that of keepToken, where it is set.
	EndSessions(ctx context.Context, userID, keepToken string) (ended int, err error)
}

// AuthController serves /auth.
type AuthController struct {
	Auth    AuthService
	Cookies middleware.Cookies
}

// Login answers POST /auth/login.
//
//	@Summary Sign in with a name and a password
//	@Description The session lasts 12 hours. Send its token as Authorization: Bearer TOKEN.
//	@Param body body request.Login true "body"
//	@x-example {"username":"admin","password":"the password of the user"}
//	@Success 200 {object} vo.Login
//	@Failure 401 {object} problem.Problem "wrong name or password"
//	@Failure 403 {object} problem.Problem "a cookie was asked for by a page of another origin"
//	@Failure 429 {object} problem.Problem "too many failed tries; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Router /api/v1/auth/login [post]
func (a *AuthController) Login(c *gin.Context) error {
	in, err := request.ReadLogin(c.Request)
	if err != nil {
		return err
	}
	if in.Cookie {
		// Else another site could sign people in under a name of its own.
		if err := a.Cookies.SameOrigin(c.Request); err != nil {
			return err
		}
	}
	middleware.SetTarget(c, "user "+in.Username)
	l, err := a.Auth.Login(c.Request.Context(), in.Username, in.Password, c.ClientIP())
	if err != nil {
		return err
	}
	middleware.SignedIn(c, l.User)
	if !in.Cookie {
		return reply.JSON(c, http.StatusOK, vo.FromLogin(l))
	}
	a.Cookies.Set(c, l.Token, access.SessionLife)
	return reply.JSON(c, http.StatusOK, vo.FromCookieLogin(l, middleware.CSRFToken(l.Token)))
}

// Logout answers POST /auth/logout.
//
//	@Summary End the session that the call came with
//	@Router /api/v1/auth/logout [post]
func (a *AuthController) Logout(c *gin.Context) error {
	if who, _ := middleware.CallerOf(c); who.TokenID != "" {
		middleware.SetTarget(c, who.TokenID)
		middleware.SetChanges(c, map[string][2]any{"revoked": {false, true}})
	} else {
		middleware.SetTarget(c, "session")
	}
	if err := a.Auth.Logout(c.Request.Context(), middleware.TokenOf(c)); err != nil {
		return err
	}
	return a.ended(c)
}

// passwordChange is what the audit log says of another password.
func passwordChange(keepTokens bool) map[string][2]any {
	return map[string][2]any{"password": middleware.NewValue(), "keepTokens": {nil, keepTokens}}
}

// ended answers for a session that is over.
func (a *AuthController) ended(c *gin.Context) error {
	if middleware.ByCookie(c) {
		a.Cookies.Clear(c)
	}
	return reply.Done(c, nil)
}

// Me answers GET /auth/me.
//
//	@Summary Show who is signed in, and what they may do
//	@Success 200 {object} vo.Me
//	@Router /api/v1/auth/me [get]
func (a *AuthController) Me(c *gin.Context) error {
	who, _ := middleware.CallerOf(c)
	me := vo.Me{User: vo.FromCaller(who)}
	if middleware.ByCookie(c) {
		me.CSRFToken = middleware.CSRFToken(middleware.TokenOf(c))
	}
	return reply.JSON(c, http.StatusOK, me)
}

// ChangePassword answers POST /auth/password. It ends every session of the
// user, this one too, and the API tokens. A user who had to change the password, and has
// the session in a cookie, gets the cookie of a new one.
//
//	@Summary Change one's own password
//	@Description Ends every session of the user, this one too. A call by a cookie of a user who had to change the password (mustChangePassword) is answered with the cookie of a new session. The change revokes the user's API tokens, unless keepTokens is true. Not for API tokens. Passwords have at least 10 characters and at most 256 bytes. They do not repeat a few characters, resemble the user name, or stand among common passwords.
//	@Param body body request.ChangePassword true "body"
//	@x-example {"oldPassword":"the old password","newPassword":"a better password"}
//	@Failure 429 {object} problem.Problem "too many wrong passwords; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Router /api/v1/auth/password [post]
func (a *AuthController) ChangePassword(c *gin.Context) error {
	in, err := request.ReadChangePassword(c.Request)
	if err != nil {
		return err
	}
	u, _ := middleware.UserOf(c)
	middleware.SetTarget(c, u.ID)
	middleware.SetTargetName(c, u.Name)
	middleware.SetChanges(c, passwordChange(in.KeepTokens))
	renewed, err := a.Auth.ChangePassword(c.Request.Context(), u.ID, access.PasswordChange{
		Old: in.OldPassword, New: in.NewPassword, KeepTokens: in.KeepTokens, Renew: middleware.ByCookie(c),
	})
	if err != nil {
		return err
	}
	if renewed == nil {
		return a.ended(c)
	}
	a.Cookies.Set(c, renewed.Token, access.SessionLife)
	return reply.Done(c, nil)
}

// SessionController serves the sessions of users: one's own, and to admins those of others.
type SessionController struct {
	Sessions AuthService
	Users    *access.UserService
}

// List answers GET /auth/sessions.
//
//	@Summary List one's own sessions, latest first
//	@Description At most 100: one more sign-in ends the oldest. Not for API tokens.
//	@Success 200 {object} vo.Page[vo.Session]
//	@Router /api/v1/auth/sessions [get]
func (s *SessionController) List(c *gin.Context) error {
	who, _ := middleware.UserOf(c)
	found, err := s.Sessions.Sessions(c.Request.Context(), who.ID, middleware.TokenOf(c))
	if err != nil {
		return err
	}
	return reply.Whole(c, found, vo.FromSession)
}

// EndOthers answers DELETE /auth/sessions.
//
//	@Summary End one's own sessions but the one of the call
//	@Description API tokens stay. Not for API tokens.
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
//	@Router /api/v1/users/{id}/sessions [delete]
func (s *SessionController) EndOf(c *gin.Context) error {
	user, err := s.Users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, user.Name)
	return s.end(c, user.ID, "")
}

func (s *SessionController) end(c *gin.Context, userID, keepToken string) error {
	n, err := s.Sessions.EndSessions(c.Request.Context(), userID, keepToken)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{"sessionsEnded": {nil, n}})
	return reply.Done(c, nil)
}
