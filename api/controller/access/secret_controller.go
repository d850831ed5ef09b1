package access

import (
	"context"
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

// SecretController serves /secrets. Which secrets a caller sees and writes goes
// by the groups of each.
type SecretController struct{ Secrets *secret.SecretService }

// List answers GET /secrets.
//
//	@Summary List the secrets without their values
//	@Description Secrets for every group, and secrets for groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Success 200 {object} vo.Page[vo.Secret]
//	@Router /api/v1/secrets [get]
func (s *SecretController) List(c *gin.Context) error {
	who, _ := middleware.CallerOf(c)
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Secret, string, error) {
		all, next, err := s.Secrets.List(ctx, permission.SecretGroups(who), p)
		return slices.DeleteFunc(all, func(v entity.Secret) bool { return !permission.SeesSecret(who, v) }), next, err
	}, func(v entity.Secret) vo.Secret { return vo.FromSecret(v, who) })
}

// maxUses bounds the jobs that are told of a secret.
const maxUses = 100

// Uses answers GET /secrets/{name}/uses.
//
//	@Summary List the jobs that name a secret
//	@Description At most 100, by id, of the groups that the caller sees; more says that there are others. It reads the data of all jobs.
//	@Success 200 {object} vo.SecretUses
//	@Router /api/v1/secrets/{name}/uses [get]
func (s *SecretController) Uses(c *gin.Context) error {
	who, _ := middleware.CallerOf(c)
	v, err := s.Secrets.Get(c.Request.Context(), c.Param("name"))
	switch {
	case err != nil:
		return err
	case !permission.SeesSecret(who, v):
		return apperror.NotFound("secret", v.Name)
	case !permission.Allows(who, permission.JobRead):
		return apperror.New(apperror.KindForbidden, "forbidden", "jobs that name a secret take the permission job:read, too")
	}
	jobs, err := s.Secrets.Uses(c.Request.Context(), v.Name, permission.SecretGroups(who), maxUses+1)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromSecretUses(jobs, maxUses))
}

// Create answers POST /secrets.
//
//	@Summary Keep a secret
//	@Description The value can be used as ${secret.NAME} by jobs of its groups, and is never shown again. Without groups it is for every group, which only admins may say.
//	@Param body body request.SecretBody true "body"
//	@x-example {"name":"billing-token","value":"hunter2-hunter2","description":"for the billing system","groups":["payments"]}
//	@Success 201 {object} vo.Secret
//	@Failure 409 {object} problem.Problem "the name is taken, or the server has no key for secrets"
//	@Router /api/v1/secrets [post]
func (s *SecretController) Create(c *gin.Context) error {
	n, err := request.ReadSecret(c.Request)
	if err != nil {
		return err
	}
	middleware.SetTarget(c, n.Name)
	middleware.SetTargetName(c, n.Name)
	if err := permitSecret(c, n.Groups); err != nil {
		return err
	}
	v, err := s.Secrets.Create(c.Request.Context(), n)
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

// writable reads a secret that the caller may write. An object that the caller may not
// see does not exist.
func (s *SecretController) writable(c *gin.Context) (entity.Secret, error) {
	who, _ := middleware.CallerOf(c)
	v, err := s.Secrets.Get(c.Request.Context(), c.Param("name"))
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
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.SecretChange true "body"
//	@x-example {"value":"hunter3-hunter3","version":1}
//	@Success 200 {object} vo.Secret
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
	v, err := s.Secrets.Edit(c.Request.Context(), n)
	if err != nil {
		return request.EditFailed(err, given)
	}
	middleware.SetChanges(c, secretChanges(before, v, n))
	return replySecret(c, http.StatusOK, v)
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
//	@Failure 409 {object} problem.Problem "somebody changed it at the same time"
//	@Router /api/v1/secrets/{name} [delete]
func (s *SecretController) Delete(c *gin.Context) error {
	v, err := s.writable(c)
	if err != nil {
		return err
	}
	return reply.Done(c, s.Secrets.Delete(c.Request.Context(), v.Name, v.Version))
}

func replySecret(c *gin.Context, status int, v entity.Secret) error {
	who, _ := middleware.CallerOf(c)
	c.Header("ETag", request.ETag(v.Version))
	return reply.JSON(c, status, vo.FromSecret(v, who))
}
