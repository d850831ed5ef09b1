package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// SecretService keeps values that can be written and used, not read.
type SecretService interface {
	Create(ctx context.Context, n service.NewSecret) (entity.Secret, error)
	Replace(ctx context.Context, n service.NewSecret, version int) (entity.Secret, error)
	List(ctx context.Context, p repository.Page) (secrets []entity.Secret, next string, err error)
	Delete(ctx context.Context, name string) error
}

// SecretController serves /secrets.
type SecretController struct{ secrets SecretService }

// NewSecretController serves the secrets of a service.
func NewSecretController(secrets SecretService) *SecretController { return &SecretController{secrets} }

// List answers GET /secrets.
func (s *SecretController) List(c *gin.Context) error {
	return replyPage(c, s.secrets.List, vo.FromSecret)
}

// Create answers POST /secrets.
func (s *SecretController) Create(c *gin.Context) error {
	n, err := request.ReadSecret(c.Request)
	if err != nil {
		return err
	}
	v, err := s.secrets.Create(c.Request.Context(), n)
	if err != nil {
		return err
	}
	c.Header("Location", c.Request.URL.Path+"/"+v.Name)
	c.Header("ETag", request.ETag(v.Version))
	return reply(c, http.StatusCreated, vo.FromSecret(v))
}

// Replace answers PUT /secrets/{name}.
func (s *SecretController) Replace(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	n, version, err := request.ReadSecretValue(c.Request)
	if err != nil {
		return err
	}
	switch {
	case version == 0 && ifMatch == 0:
		return fault.InvalidField("version", "required", "must be the version that you have read, or send it as If-Match")
	case given && ifMatch != 0 && version != 0 && version != ifMatch:
		return fault.InvalidField("version", "conflict", "is another version than that of If-Match")
	case version == 0:
		version = ifMatch
	}
	n.Name = c.Param("name")
	v, err := s.secrets.Replace(c.Request.Context(), n, version)
	if given && fault.Is(err, fault.KindConflict) {
		return fault.New(fault.KindPrecondition, "version_mismatch", err.Error())
	}
	if err != nil {
		return err
	}
	c.Header("ETag", request.ETag(v.Version))
	return reply(c, http.StatusOK, vo.FromSecret(v))
}

// Delete answers DELETE /secrets/{name}.
func (s *SecretController) Delete(c *gin.Context) error {
	if err := s.secrets.Delete(c.Request.Context(), c.Param("name")); err != nil {
		return err
	}
	return noContent(c)
}
