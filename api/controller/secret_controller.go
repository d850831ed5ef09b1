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
//
//	@Summary List the secrets without their values
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags secrets
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Secret]
//	@Router /api/v1/secrets [get]
func (s *SecretController) List(c *gin.Context) error {
	return replyPage(c, s.secrets.List, vo.FromSecret)
}

// Create answers POST /secrets.
//
//	@Summary Keep a secret
//	@Description The value can be used as ${secret.NAME} and is never shown again.
//	@Tags secrets
//	@Param body body request.SecretBody true "body"
//	@x-example {"name":"billing-token","value":"hunter2-hunter2","description":"for the billing system"}
//	@Success 201 {object} vo.Secret
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, or the server has no key for secrets"
//	@Router /api/v1/secrets [post]
func (s *SecretController) Create(c *gin.Context) error {
	n, err := request.ReadSecret(c.Request)
	if err != nil {
		return err
	}
	middleware.About(c, n.Name)
	v, err := s.secrets.Create(c.Request.Context(), n)
	if err != nil {
		return err
	}
	middleware.Did(c, map[string][2]any{"value": middleware.NewValue(), "description": {nil, v.Description}})
	c.Header("Location", c.Request.URL.Path+"/"+v.Name)
	c.Header("ETag", request.ETag(v.Version))
	return reply(c, http.StatusCreated, vo.FromSecret(v))
}

// Replace answers PUT /secrets/{name}.
//
//	@Summary Give a secret another value
//	@Description Needs the version that was read, in the body or as If-Match.
//	@Tags secrets
//	@Param name path string true "name of the secret"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.SecretChange true "body"
//	@x-example {"value":"hunter3-hunter3","version":1}
//	@Success 200 {object} vo.Secret
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the server has no key for secrets"
//	@Router /api/v1/secrets/{name} [put]
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
	middleware.Did(c, map[string][2]any{"value": middleware.NewValue(), "description": {nil, v.Description}})
	c.Header("ETag", request.ETag(v.Version))
	return reply(c, http.StatusOK, vo.FromSecret(v))
}

// Delete answers DELETE /secrets/{name}.
//
//	@Summary Delete a secret
//	@Description Runs that name it fail from then on.
//	@Tags secrets
//	@Param name path string true "name of the secret"
//	@Success 204 "done, no body"
//	@Router /api/v1/secrets/{name} [delete]
func (s *SecretController) Delete(c *gin.Context) error {
	if err := s.secrets.Delete(c.Request.Context(), c.Param("name")); err != nil {
		return err
	}
	return noContent(c)
}
