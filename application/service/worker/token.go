package worker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// secretBytes is how many random bytes a token has.
const secretBytes = 32

// TokenInput is what a caller gives for a token of a worker group.
type TokenInput struct {
	Group, Name string
	ExpiresAt   time.Time
	// CreatedBy is the user who calls.
	CreatedBy string
}

// CreateToken makes a token of a group and returns it, this once.
func (s *GroupService) CreateToken(ctx context.Context, n TokenInput) (t worker.Token, secret string, err error) {
	if _, err := s.Groups.WorkerGroup(ctx, n.Group); err != nil {
		return t, "", err
	}
	now := s.Clock.Now()
	if err := apperror.Invalid(validation.Token(n.Name, bounds.Name, n.ExpiresAt, now)); err != nil {
		return t, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return t, "", fmt.Errorf("make an id for a token: %w", err)
	}
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails: it ends the process instead
	secret = worker.TokenPrefix + hex.EncodeToString(raw)
	t = worker.Token{
		ID: id.String(), Group: n.Group, Name: n.Name, Hash: hashOf(secret), CreatedBy: n.CreatedBy,
		ExpiresAt: n.ExpiresAt, CreateTime: now,
	}
	return t, secret, s.Groups.AddWorkerToken(ctx, t, worker.MaxTokens)
}

// Tokens are those of a group, expired ones too, by id.
func (s *GroupService) Tokens(ctx context.Context, group string) ([]worker.Token, error) {
	if _, err := s.Groups.WorkerGroup(ctx, group); err != nil {
		return nil, err
	}
	return s.Groups.WorkerTokens(ctx, group)
}

// RevokeToken ends a token and says which it was: on this node at once, on others within five seconds.
func (s *GroupService) RevokeToken(ctx context.Context, group, id string) (worker.Token, error) {
	defer s.Auth.Forget(group)
	return s.Groups.DropWorkerToken(ctx, group, id)
}

// hashOf is how tokens are stored: they are random, so that a fast hash without salt is enough.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
