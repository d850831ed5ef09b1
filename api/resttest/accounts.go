package resttest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/auth"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Tokens of the accounts that every store of this package holds. The id of a user is
// "id-of-" and the name; the id of an API token is "t-" and its name.
const (
	AdminToken    = "pss_of-admin"
	OperatorToken = "pss_of-operator"
	ViewerToken   = "pss_of-viewer"
	// BoundToken is the session of an operator of the group mine who may read the group shown.
	BoundToken = "pss_of-bound"
	// KeeperToken is like BoundToken, with the right to make secrets.
	KeeperToken = "pss_of-keeper"
	// ReadToken is an API token of the admin with the scope job:read.
	ReadToken = "pst_reads-jobs"
	// UserToken is an API token of the admin with the scope user:admin.
	UserToken = "pst_for-users"
	// WholeToken is an API token of the admin without scopes: it may do everything.
	WholeToken = "pst_for-everything"
)

// Password is the password of every account.
const Password = "right"

// forever is the end of sessions and tokens, also for tests at the time of the machine.
var forever = time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)

func users() []entity.User {
	groups := map[string]entity.Role{"mine": entity.RoleOperator, "shown": entity.RoleViewer}
	return []entity.User{
		{Name: "admin", Role: entity.RoleAdmin},
		{Name: "ann", Role: entity.RoleOperator},
		{Name: "operator", Role: entity.RoleOperator},
		{Name: "viewer", Role: entity.RoleViewer},
		{Name: "bound", Role: entity.RoleOperator, Rights: entity.Rights{Groups: groups}},
		{Name: "keeper", Role: entity.RoleOperator, Rights: entity.Rights{Groups: groups, Secrets: true}},
	}
}

// seeded is a migrated SQLite file with the accounts.
var seeded = sync.OnceValues(func() ([]byte, error) {
	return dbtest.Template(func(ctx context.Context, s *persistence.Store) error {
		// One hash for all: a hash takes 25 ms.
		hash, err := auth.NewArgon2(1).Hash(ctx, Password)
		if err != nil {
			return err
		}
		for _, u := range users() {
			u.ID, u.PasswordHash = "id-of-"+u.Name, hash
			u.CreateTime, u.UpdateTime = Noon, Noon
			if err := s.AddUser(ctx, u); err != nil {
				return err
			}
			session := entity.Session{TokenHash: hashOf("pss_of-" + u.Name), UserID: u.ID, ExpiresAt: forever, CreateTime: Noon}
			if err := s.AddSession(ctx, session, 1); err != nil {
				return err
			}
		}
		if err := s.Write(ctx, repository.LaneAPI, "whole", func(ctx context.Context, tx repository.Tx) error {
			fold, err := tx.Statistics.LockFold(ctx)
			fold.Whole = true // no node of a former release has stored ends
			return errors.Join(err, tx.Statistics.SaveFold(ctx, fold))
		}); err != nil {
			return err
		}
		for _, t := range []entity.Token{
			{Name: "reads-jobs", Scopes: []string{"job:read"}},
			{Name: "for-users", Scopes: []string{"user:admin"}},
			{Name: "for-everything"},
		} {
			t.ID, t.UserID, t.Hash = "t-"+t.Name, "id-of-admin", hashOf("pst_"+t.Name)
			t.ExpiresAt, t.CreateTime = forever, Noon
			if err := s.AddToken(ctx, t, 10); err != nil {
				return err
			}
		}
		return nil
	})
})

// Session opens one more session of an account, without the cost of a password.
func (b *Backend) Session(t testing.TB, userID string) (token string) {
	t.Helper()
	token = "pss_" + rand.Text()
	session := entity.Session{TokenHash: hashOf(token), UserID: userID, ExpiresAt: forever, CreateTime: b.Clock.Now()}
	require.NoError(t, b.Store.AddSession(t.Context(), session, access.MaxSessions))
	return token
}

// hashOf is how the store keeps tokens.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
