// Package users adds those of a bench, as the API bounds what one user may do at once.
package users

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// Add adds users of two roles with so many sessions in all, as a sign-in of each would take the
// processor for long. It returns the tokens, and how many users there are.
func Add(ctx context.Context, s *persistence.Store, now time.Time, many, perUser int) (
	sessions []string, users int, err error,
) {
	roles := []entity.Role{entity.RoleOperator, entity.RoleViewer}
	for ; len(sessions) < many; users++ {
		u := entity.User{
			ID: uuid.NewString(), Name: "bench-" + strconv.Itoa(users), PasswordHash: "none", Role: roles[users%len(roles)],
			CreateTime: now, UpdateTime: now,
		}
		if err := s.AddUser(ctx, u); err != nil {
			return nil, 0, fmt.Errorf("add a user: %w", err)
		}
		for range min(perUser, many-len(sessions)) {
			token := "pss_" + uuid.NewString()
			sum := sha256.Sum256([]byte(token))
			session := entity.Session{
				TokenHash: hex.EncodeToString(sum[:]), UserID: u.ID, ExpiresAt: now.Add(time.Hour), CreateTime: now,
			}
			if err := s.AddSession(ctx, session, perUser); err != nil {
				return nil, 0, fmt.Errorf("add a session: %w", err)
			}
			sessions = append(sessions, token)
		}
	}
	return sessions, users, nil
}
