package access

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// tokenPrefix lets secret scanners recognise an API token.
	tokenPrefix = "pst_"
	// MaxTokens is how many tokens that have not expired a user may have.
	MaxTokens = 50
	// useEvery is how exact the last use of a token is.
	useEvery = time.Minute
)

// TokenService manages API tokens. It is safe for concurrent use.
type TokenService struct {
	tokens repository.Tokens
	clock  clock.Clock
}

// NewTokenService keeps tokens in a repository.
func NewTokenService(tokens repository.Tokens, c clock.Clock) *TokenService {
	return &TokenService{tokens: tokens, clock: c}
}

// TokenInput is what a user gives for a token.
type TokenInput struct {
	Name string
	// Scopes are permissions, checked by the edge that knows them; nil is all.
	Scopes    []string
	ExpiresAt time.Time
}

// Create makes a token for a user and returns it, this once.
func (s *TokenService) Create(ctx context.Context, userID string,
	n TokenInput,
) (t entity.Token, secret string, err error) {
	now := s.clock.Now()
	if err := apperror.Invalid(validation.Token(n.Name, maxUserName, n.ExpiresAt, now)); err != nil {
		return t, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return t, "", fmt.Errorf("make an id for a token: %w", err)
	}
	secret = newSecret(tokenPrefix)
	t = entity.Token{
		ID: id.String(), UserID: userID, Name: n.Name, Hash: hashToken(secret), Scopes: n.Scopes,
		ExpiresAt: n.ExpiresAt, CreateTime: now,
	}
	return t, secret, s.tokens.AddToken(ctx, t, MaxTokens)
}

// List is one page of tokens, of one user where userID is set.
func (s *TokenService) List(ctx context.Context, userID string, p repository.Page) ([]entity.Token, string, error) {
	return s.tokens.ListTokens(ctx, userID, p)
}

// Revoke ends a token, of that user where userID is set, and says which it was.
func (s *TokenService) Revoke(ctx context.Context, id, userID string) (entity.Token, error) {
	return s.tokens.DropToken(ctx, id, userID)
}
