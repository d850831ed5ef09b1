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
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// UserService manages who may sign in.
type UserService interface {
	Create(ctx context.Context, n access.UserInput) (entity.User, error)
	Get(ctx context.Context, id string) (entity.User, error)
	List(ctx context.Context, p repository.Page) (users []entity.User, next string, err error)
	Change(ctx context.Context, id string, n access.UserInput) (entity.User, error)
	Delete(ctx context.Context, id string) error
}

// UserController serves /users.
type UserController struct{ users UserService }

// NewUserController serves the users of a service.
func NewUserController(users UserService) *UserController { return &UserController{users} }

// List answers GET /users.
//
//	@Summary List the users
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags users
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.User]
//	@Router /api/v1/users [get]
func (u *UserController) List(c *gin.Context) error { return reply.Page(c, u.users.List, vo.FromUser) }

// Create answers POST /users.
//
//	@Summary Make a user
//	@Description groups binds the user to the jobs of some groups, with a role in each; absent is all. The user is asked for another password, unless mustChangePassword is false. Not for API tokens.
//	@Tags users
//	@Param body body request.UserBody true "body"
//	@x-example {"username":"ann","password":"correct horse battery","role":"operator","groups":{"default":"operator"}}
//	@Success 201 {object} vo.User
//	@Header 201 {string} Location "address of what was made"
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
	user, err := u.users.Create(c.Request.Context(), n)
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
//	@Tags users
//	@Param id path string true "id of the user"
//	@Success 200 {object} vo.User
//	@Router /api/v1/users/{id} [get]
func (u *UserController) Get(c *gin.Context) error {
	user, err := u.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromUser(user))
}

// Change answers PUT /users/{id}.
//
//	@Summary Change the rights or the password of a user
//	@Description Replaces role, groups and commands; the password only where it is given. Ends the sessions of the user; another password also revokes the API tokens, unless keepTokens is true. The user is asked for yet another one, unless mustChangePassword is false. Not for API tokens.
//	@Tags users
//	@Param id path string true "id of the user"
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
	before, err := u.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, before.Name)
	if who, _ := middleware.CallerOf(c); who.User.ID == before.ID {
		n.PasswordStays = true // nobody else knows it
	}
	after, err := u.users.Change(c.Request.Context(), before.ID, n)
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
//	@Tags users
//	@Param id path string true "id of the user"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "the last admin stays"
//	@Router /api/v1/users/{id} [delete]
func (u *UserController) Delete(c *gin.Context) error {
	user, err := u.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, user.Name)
	if err := u.users.Delete(c.Request.Context(), user.ID); err != nil {
		return err
	}
	return reply.NoContent(c)
}
