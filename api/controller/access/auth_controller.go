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
	ChangePassword(ctx context.Context, userID, oldPassword, newPassword string, keepTokens bool) error
	SessionService
}

// AuthController serves /auth.
type AuthController struct {
	auth    AuthService
	cookies middleware.Cookies
}

// NewAuthController serves sign-in, where asked by a cookie.
func NewAuthController(auth AuthService, cookies middleware.Cookies) *AuthController {
	return &AuthController{auth, cookies}
}

// Login answers POST /auth/login.
//
//	@Summary Sign in with a name and a password
//	@Description The session lasts 12 hours. Send its token as Authorization: Bearer TOKEN.
//	@Tags auth
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
		if err := a.cookies.SameOrigin(c.Request); err != nil {
			return err
		}
	}
	middleware.SetTarget(c, "user "+in.Username)
	l, err := a.auth.Login(c.Request.Context(), in.Username, in.Password, c.ClientIP())
	if err != nil {
		return err
	}
	middleware.SignedIn(c, l.User)
	if !in.Cookie {
		return reply.JSON(c, http.StatusOK, vo.FromLogin(l))
	}
	a.cookies.Set(c, l.Token, access.SessionLife)
	return reply.JSON(c, http.StatusOK, vo.FromCookieLogin(l, middleware.CSRFToken(l.Token)))
}

// Logout answers POST /auth/logout.
//
//	@Summary End the session that the call came with
//	@Tags auth
//	@Success 204 "done, no body"
//	@Router /api/v1/auth/logout [post]
func (a *AuthController) Logout(c *gin.Context) error {
	if who, _ := middleware.CallerOf(c); who.TokenID != "" {
		middleware.SetTarget(c, who.TokenID)
		middleware.SetChanges(c, map[string][2]any{"revoked": {false, true}})
	} else {
		middleware.SetTarget(c, "session")
	}
	if err := a.auth.Logout(c.Request.Context(), middleware.TokenOf(c)); err != nil {
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
		a.cookies.Clear(c)
	}
	return reply.NoContent(c)
}

// Me answers GET /auth/me.
//
//	@Summary Show who is signed in, and what they may do
//	@Tags auth
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
// user, this one too, and the API tokens.
//
//	@Summary Change one's own password
//	@Description Ends every session of the user, this one too, and revokes the user's API tokens, unless keepTokens is true. Not for API tokens. Passwords have at least 10 characters and at most 256 bytes. They do not repeat a few characters, resemble the user name, or stand among common passwords.
//	@Tags auth
//	@Param body body request.ChangePassword true "body"
//	@x-example {"oldPassword":"the old password","newPassword":"a better password"}
//	@Success 204 "done, no body"
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
	if err := a.auth.ChangePassword(c.Request.Context(), u.ID, in.OldPassword, in.NewPassword, in.KeepTokens); err != nil {
		return err
	}
	return a.ended(c)
}
