package access

import (
	"context"
	"maps"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// UserController serves /users.
type UserController struct{ Users *access.UserService }

// List answers GET /users.
//
//	@Summary List the users
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.User]
//	@Router /api/v1/users [get]
func (u *UserController) List(c *gin.Context) error { return reply.Page(c, u.Users.List, vo.FromUser) }

// Create answers POST /users.
//
//	@Summary Make a user
//	@Description groups binds the user to the jobs of some groups, with a role in each; absent is all. The user is asked for another password, unless mustChangePassword is false. Not for API tokens.
//	@Param body body request.UserBody true "body"
//	@x-example {"username":"ann","password":"correct horse battery","role":"operator","groups":{"default":"operator"}}
//	@Success 201 {object} vo.User
//	@Failure 409 {object} problem.Problem "the name is taken"
//	@Failure 429 {object} problem.Problem "the server checks as many passwords as it can; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Router /api/v1/users [post]
func (u *UserController) Create(c *gin.Context) error {
	n, err := request.ReadUser(c.Request)
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, n.Name)
	user, err := u.Users.Create(c.Request.Context(), n)
	if err != nil {
		return err
	}
	middleware.SetTarget(c, user.ID)
	middleware.SetDiff(c, nil, vo.FromUser(user))
	c.Header("Location", c.Request.URL.Path+"/"+user.ID)
	return reply.JSON(c, http.StatusCreated, vo.FromUser(user))
}

// Get answers GET /users/{id}.
//
//	@Summary Show one user
//	@Success 200 {object} vo.User
//	@Router /api/v1/users/{id} [get]
func (u *UserController) Get(c *gin.Context) error {
	user, err := u.Users.Get(c.Request.Context(), c.Param("id"))
	return reply.Shown(c, user, err, vo.FromUser)
}

// Change answers PUT /users/{id}.
//
//	@Summary Change the rights or the password of a user
//	@Description Replaces role, groups and commands; the password only where it is given. Ends the sessions of the user; another password also revokes the API tokens, unless keepTokens is true. The user is asked for yet another one, unless mustChangePassword is false. Not for API tokens.
//	@Param body body request.UserChange true "body"
//	@x-example {"role":"viewer"}
//	@Success 200 {object} vo.User
//	@Failure 409 {object} problem.Problem "the last admin stays admin"
//	@Failure 429 {object} problem.Problem "the server checks as many passwords as it can; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Router /api/v1/users/{id} [put]
func (u *UserController) Change(c *gin.Context) error {
	n, err := request.ReadUserChange(c.Request)
	if err != nil {
		return err
	}
	before, err := u.Users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, before.Name)
	if who, _ := middleware.CallerOf(c); who.User.ID == before.ID {
		n.PasswordStays = true // nobody else knows it
	}
	after, err := u.Users.Change(c.Request.Context(), before.ID, n)
	if err != nil {
		return err
	}
	changes := middleware.Diff(vo.FromUser(before), vo.FromUser(after))
	if n.Password != "" {
		maps.Copy(changes, passwordChange(n.KeepTokens))
	}
	middleware.SetChanges(c, changes)
	return reply.JSON(c, http.StatusOK, vo.FromUser(after))
}

// Delete answers DELETE /users/{id}.
//
//	@Summary Delete a user with sessions and tokens
//	@Description Not for API tokens.
//	@Failure 409 {object} problem.Problem "the last admin stays"
//	@Router /api/v1/users/{id} [delete]
func (u *UserController) Delete(c *gin.Context) error {
	user, err := u.Users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, user.Name)
	return reply.Done(c, u.Users.Delete(c.Request.Context(), user.ID))
}

// TokenController serves /tokens: one's own, and to admins those of all.
type TokenController struct{ Tokens *access.TokenService }

// tokenOwnerFilter returns the user whose tokens a caller may see and revoke; empty for
// all users.
func tokenOwnerFilter(c *gin.Context) string {
	who, _ := middleware.CallerOf(c)
	if permission.Allows(who, permission.UserAdmin) {
		return ""
	}
	return who.User.ID
}

// List answers GET /tokens.
//
//	@Summary List one's own API tokens; admins see all
//	@Description Not for API tokens. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.Token]
//	@Router /api/v1/tokens [get]
func (t *TokenController) List(c *gin.Context) error {
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Token, string, error) {
		return t.Tokens.List(ctx, tokenOwnerFilter(c), p)
	}, func(token entity.Token) vo.Token { return vo.FromToken(token, "") })
}

// Create answers POST /tokens with the token, this once.
//
//	@Summary Make an API token for oneself
//	@Description It does what its owner may do, narrowed to scopes where they are given, for at most 366 days. Not for API tokens.
//	@Param body body request.TokenBody true "body"
//	@x-example {"name":"ci","scopes":["job:read"],"expiresAt":"2027-01-31T00:00:00Z"}
//	@Success 201 {object} vo.Token "with the token, this once"
//	@Router /api/v1/tokens [post]
func (t *TokenController) Create(c *gin.Context) error {
	n, err := request.ReadToken(c.Request)
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, n.Name)
	user, _ := middleware.UserOf(c)
	token, secret, err := t.Tokens.Create(c.Request.Context(), user.ID, n)
	if err != nil {
		return err
	}
	middleware.SetTarget(c, token.ID)
	middleware.SetDiff(c, nil, vo.FromToken(token, ""))
	c.Header("Location", c.Request.URL.Path+"/"+token.ID)
	return reply.JSON(c, http.StatusCreated, vo.FromToken(token, secret))
}

// Revoke answers DELETE /tokens/{id}.
//
//	@Summary Revoke an API token
//	@Router /api/v1/tokens/{id} [delete]
func (t *TokenController) Revoke(c *gin.Context) error {
	token, err := t.Tokens.Revoke(c.Request.Context(), c.Param("id"), tokenOwnerFilter(c))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, token.Name)
	middleware.SetChanges(c, map[string][2]any{"revoked": {false, true}, "userId": {token.UserID, nil}})
	return reply.Done(c, nil)
}
