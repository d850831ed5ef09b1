package access

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Session is a sign-in that goes on.
type Session struct {
	entity.Session
	// Current: the caller came with it.
	Current bool
}

// Sessions are those of a user that go on, latest first; token is the caller's.
func (s *AuthService) Sessions(ctx context.Context, userID, token string) ([]Session, error) {
	found, err := s.sessions.SessionsOf(ctx, userID, s.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", userID, err)
	}
	out := make([]Session, len(found))
	for i, v := range found {
		out[i] = Session{Session: v, Current: v.TokenHash == hashToken(token)}
	}
	return out, nil
}

// EndSessions ends the sessions of a user but the one of keepToken, where it is set, and
// returns how many these were. API tokens stay.
func (s *AuthService) EndSessions(ctx context.Context, userID, keepToken string) (int, error) {
	keep := ""
	if keepToken != "" {
		keep = hashToken(keepToken)
	}
	n, err := s.sessions.DropSessions(ctx, userID, keep)
	if err != nil {
		return 0, fmt.Errorf("end the sessions of %s: %w", userID, err)
	}
	return n, nil
}
