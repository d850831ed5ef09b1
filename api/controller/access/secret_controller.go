package access

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// SecretService keeps values that can be written and used, not read.
type SecretService interface {
	Create(ctx context.Context, n secret.SecretInput) (entity.Secret, error)
	// Get returns apperror.KindNotFound for an unknown name.
	Get(ctx context.Context, name string) (entity.Secret, error)
	// Edit checks the version: apperror.KindConflict when it is stale.
	Edit(ctx context.Context, n secret.SecretEdit) (entity.Secret, error)
	// List is of all secrets, or of those for one of some groups or for every
	// group; nil is all.
	List(ctx context.Context, within []string, p repository.Page) (secrets []entity.Secret, next string, err error)
	Delete(ctx context.Context, name string, version int) error
	// Uses are at most limit jobs that name a secret, of some groups; nil is all.
	Uses(ctx context.Context, name string, within []string, limit int) ([]*entity.Job, error)
}

// SecretController serves /secrets. Which secrets a caller sees and writes goes
// by the groups of each.
type SecretController struct{ secrets SecretService }

// NewSecretController serves the secrets of a service.
func NewSecretController(secrets SecretService) *SecretController { return &SecretController{secrets} }

// List answers GET /secrets.
//
//	@Summary List the secrets without their values
//	@Description Those for every group, and those for groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags secrets
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Secret]
//	@Router /api/v1/secrets [get]
func (s *SecretController) List(c *gin.Context) error {
	who, _ := middleware.CallerOf(c)
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Secret, string, error) {
		all, next, err := s.secrets.List(ctx, permission.SecretGroups(who), p)
		return slices.DeleteFunc(all, func(v entity.Secret) bool { return !permission.SeesSecret(who, v) }), next, err
	}, func(v entity.Secret) vo.Secret { return vo.FromSecret(v, who) })
}

// maxUses bounds the jobs that are told of a secret.
const maxUses = 100

// Uses answers GET /secrets/{name}/uses.
//
//	@Summary List the jobs that name a secret
//	@Description At most 100, by id, of the groups that the caller sees; more says that there are others. It reads the data of all jobs.
//	@Tags secrets
//	@Param name path string true "name of the secret"
//	@Success 200 {object} vo.SecretUses
//	@Router /api/v1/secrets/{name}/uses [get]
func (s *SecretController) Uses(c *gin.Context) error {
	who, _ := middleware.CallerOf(c)
	v, err := s.secrets.Get(c.Request.Context(), c.Param("name"))
	switch {
	case err != nil:
		return err
	case !permission.SeesSecret(who, v):
		return apperror.NotFound("secret", v.Name)
	case !permission.Allows(who, permission.JobRead):
		return apperror.New(apperror.KindForbidden, "forbidden", "jobs that name a secret take the permission job:read, too")
	}
	jobs, err := s.secrets.Uses(c.Request.Context(), v.Name, permission.SecretGroups(who), maxUses+1)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromSecretUses(jobs, maxUses))
}

// Create answers POST /secrets.
//
//	@Summary Keep a secret
//	@Description The value can be used as ${secret.NAME} by jobs of its groups, and is never shown again. Without groups it is for every group, which only admins may say.
//	@Tags secrets
//	@Param body body request.SecretBody true "body"
//	@x-example {"name":"billing-token","value":"hunter2-hunter2","description":"for the billing system","groups":["payments"]}
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
	middleware.SetTarget(c, n.Name)
	if err := permitSecret(c, n.Groups); err != nil {
		return err
	}
	v, err := s.secrets.Create(c.Request.Context(), n)
	if err != nil {
		return err
	}
	middleware.SetChanges(c, map[string][2]any{
		"value": middleware.NewValue(), "description": {nil, v.Description},
		"groups": {nil, v.Groups},
	})
	c.Header("Location", c.Request.URL.Path+"/"+v.Name)
	return replySecret(c, http.StatusCreated, v)
}

// permitSecret is nil if the caller may write a secret for some groups; none are
// all.
func permitSecret(c *gin.Context, groups []string) error {
	who, _ := middleware.CallerOf(c)
	if len(groups) == 0 {
		groups = nil
	}
	switch {
	case permission.WritesSecret(who, groups):
		return nil
	case groups == nil:
		return apperror.New(apperror.KindForbidden, "forbidden",
			"only admins write secrets for every group; name groups in which you are operator")
	}
	return apperror.New(apperror.KindForbidden, "forbidden",
		"you do not hold the permission secret:write in all of the groups "+strings.Join(groups, ", "))
}

// writable reads a secret that the caller may write. What the caller may not see
// does not exist.
func (s *SecretController) writable(c *gin.Context) (entity.Secret, error) {
	who, _ := middleware.CallerOf(c)
	v, err := s.secrets.Get(c.Request.Context(), c.Param("name"))
	switch {
	case err != nil:
		return v, err
	case !permission.SeesSecret(who, v):
		return v, apperror.NotFound("secret", v.Name)
	case !permission.WritesSecret(who, v.Groups):
		return v, apperror.New(apperror.KindForbidden, "forbidden",
			"this secret is for groups in which you do not hold the permission secret:write")
	}
	return v, nil
}

// Replace answers PUT /secrets/{name}.
//
//	@Summary Change a secret
//	@Description Value and groups stay as they are where they are absent. Needs the version that was read, in the body or as If-Match. Groups whose jobs name the secret are not taken away unless force is true: the answer lists up to 50 such jobs.
//	@Tags secrets
//	@Param name path string true "name of the secret"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.SecretChange true "body"
//	@x-example {"value":"hunter3-hunter3","version":1}
//	@Success 200 {object} vo.Secret
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, jobs would lose the secret, or the server has no key for secrets"
//	@Router /api/v1/secrets/{name} [put]
func (s *SecretController) Replace(c *gin.Context) error {
	ifMatch, given, err := request.IfMatch(c.Request.Header)
	if err != nil {
		return err
	}
	n, err := request.ReadSecretChange(c.Request)
	if err != nil {
		return err
	}
	switch {
	case n.Version == 0 && ifMatch == 0:
		return apperror.InvalidField("version", "required", "must be the version that you have read, or send it as If-Match")
	case given && ifMatch != 0 && n.Version != 0 && n.Version != ifMatch:
		return apperror.InvalidField("version", "conflict", "is another version than that of If-Match")
	case n.Version == 0:
		n.Version = ifMatch
	}
	before, err := s.writable(c)
	if err != nil {
		return err
	}
	if !n.KeepGroups {
		if err := permitSecret(c, n.Groups); err != nil {
			return err
		}
	}
	n.Name = before.Name
	v, err := s.secrets.Edit(c.Request.Context(), n)
	if given && isStale(err) {
		return apperror.New(apperror.KindPrecondition, "version_mismatch", err.Error())
	}
	if err != nil {
		return err
	}
	middleware.SetChanges(c, secretChanges(before, v, n))
	return replySecret(c, http.StatusOK, v)
}

// isStale reports that an edit was of a former version.
func isStale(err error) bool {
	var f *apperror.Error
	return errors.As(err, &f) && f.Code == "stale_version"
}

// secretChanges is what the audit log keeps of an edit.
func secretChanges(before, after entity.Secret, n secret.SecretEdit) map[string][2]any {
	did := map[string][2]any{}
	if !n.KeepValue {
		did["value"] = middleware.NewValue()
	}
	if before.Description != after.Description {
		did["description"] = [2]any{before.Description, after.Description}
	}
	if !slices.Equal(before.Groups, after.Groups) || (before.Groups == nil) != (after.Groups == nil) {
		did["groups"] = [2]any{before.Groups, after.Groups}
	}
	return did
}

// Delete answers DELETE /secrets/{name}.
//
//	@Summary Delete a secret
//	@Description Runs that name it fail from then on.
//	@Tags secrets
//	@Param name path string true "name of the secret"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "somebody changed it at the same time"
//	@Router /api/v1/secrets/{name} [delete]
func (s *SecretController) Delete(c *gin.Context) error {
	v, err := s.writable(c)
	if err != nil {
		return err
	}
	if err := s.secrets.Delete(c.Request.Context(), v.Name, v.Version); err != nil {
		return err
	}
	return reply.NoContent(c)
}

func replySecret(c *gin.Context, status int, v entity.Secret) error {
	who, _ := middleware.CallerOf(c)
	c.Header("ETag", request.ETag(v.Version))
	return reply.JSON(c, status, vo.FromSecret(v, who))
}
