package access

import (
	"context"
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

// TokenService manages API tokens.
type TokenService interface {
	Create(ctx context.Context, userID string, n access.TokenInput) (t entity.Token, secret string, err error)
	// List and Revoke are for one user's where userID is set.
	List(ctx context.Context, userID string, p repository.Page) (tokens []entity.Token, next string, err error)
	Revoke(ctx context.Context, id, userID string) (entity.Token, error)
}

// TokenController serves /tokens: one's own, and to admins those of all.
type TokenController struct{ tokens TokenService }

// NewTokenController serves the tokens of a service.
func NewTokenController(tokens TokenService) *TokenController { return &TokenController{tokens} }

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
//	@Tags tokens
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Token]
//	@Router /api/v1/tokens [get]
func (t *TokenController) List(c *gin.Context) error {
	return reply.Page(c, func(ctx context.Context, p repository.Page) ([]entity.Token, string, error) {
		return t.tokens.List(ctx, tokenOwnerFilter(c), p)
	}, func(token entity.Token) vo.Token { return vo.FromToken(token, "") })
}

// Create answers POST /tokens with the token, this once.
//
//	@Summary Make an API token for oneself
//	@Description It does what its owner may do, narrowed to scopes where they are given, for at most 366 days. Not for API tokens.
//	@Tags tokens
//	@Param body body request.TokenBody true "body"
//	@x-example {"name":"ci","scopes":["job:read"],"expiresAt":"2027-01-31T00:00:00Z"}
//	@Success 201 {object} vo.Token "with the token, this once"
//	@Header 201 {string} Location "address of what was made"
//	@Router /api/v1/tokens [post]
func (t *TokenController) Create(c *gin.Context) error {
	n, err := request.ReadToken(c.Request)
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, n.Name)
	user, _ := middleware.UserOf(c)
	token, secret, err := t.tokens.Create(c.Request.Context(), user.ID, n)
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
//	@Tags tokens
//	@Param id path string true "id of the token"
//	@Success 204 "done, no body"
//	@Router /api/v1/tokens/{id} [delete]
func (t *TokenController) Revoke(c *gin.Context) error {
	token, err := t.tokens.Revoke(c.Request.Context(), c.Param("id"), tokenOwnerFilter(c))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, token.Name)
	middleware.SetChanges(c, map[string][2]any{"revoked": {false, true}, "userId": {token.UserID, nil}})
	return reply.NoContent(c)
}
