package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// UserService manages who may sign in.
type UserService interface {
	Create(ctx context.Context, n service.NewUser) (entity.User, error)
	Get(ctx context.Context, id string) (entity.User, error)
	List(ctx context.Context, p repository.Page) (users []entity.User, next string, err error)
	Change(ctx context.Context, id string, n service.NewUser) (entity.User, error)
	Delete(ctx context.Context, id string) error
}

// UserController serves /users.
type UserController struct{ users UserService }

// NewUserController serves the users of a service.
func NewUserController(users UserService) *UserController { return &UserController{users} }

// List answers GET /users.
func (u *UserController) List(c *gin.Context) error { return replyPage(c, u.users.List, vo.FromUser) }

// Create answers POST /users.
func (u *UserController) Create(c *gin.Context) error {
	n, err := request.ReadUser(c.Request)
	if err != nil {
		return err
	}
	middleware.About(c, "user "+n.Name)
	user, err := u.users.Create(c.Request.Context(), n)
	if err != nil {
		return err
	}
	middleware.Changed(c, nil, vo.FromUser(user))
	c.Header("Location", c.Request.URL.Path+"/"+user.ID)
	return reply(c, http.StatusCreated, vo.FromUser(user))
}

// Get answers GET /users/{id}.
func (u *UserController) Get(c *gin.Context) error {
	user, err := u.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FromUser(user))
}

// Change answers PUT /users/{id}.
func (u *UserController) Change(c *gin.Context) error {
	n, err := request.ReadUserChange(c.Request)
	if err != nil {
		return err
	}
	before, err := u.users.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	after, err := u.users.Change(c.Request.Context(), before.ID, n)
	if err != nil {
		return err
	}
	middleware.Changed(c, vo.FromUser(before), vo.FromUser(after))
	return reply(c, http.StatusOK, vo.FromUser(after))
}

// Delete answers DELETE /users/{id}.
func (u *UserController) Delete(c *gin.Context) error {
	if err := u.users.Delete(c.Request.Context(), c.Param("id")); err != nil {
		return err
	}
	return noContent(c)
}
