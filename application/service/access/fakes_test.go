package access_test

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// accounts is a store of users and sessions in memory.
type accounts struct {
	mu       sync.Mutex
	users    map[string]entity.User
	sessions map[string]entity.Session
	err      error
}

func newAccounts() *accounts {
	return &accounts{users: map[string]entity.User{}, sessions: map[string]entity.Session{}}
}

func (a *accounts) AddUser(_ context.Context, u entity.User) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, other := range a.users {
		if other.Name == u.Name {
			return apperror.Conflict("name_taken", "taken")
		}
	}
	a.users[u.ID] = u
	return a.err
}

func (a *accounts) UserByName(_ context.Context, name string) (entity.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range a.users {
		if u.Name == name {
			return u, a.err
		}
	}
	if a.err != nil {
		return entity.User{}, a.err
	}
	return entity.User{}, apperror.NotFound("user", name)
}

func (a *accounts) UserByID(_ context.Context, id string) (entity.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.users[id]
	if !ok {
		return u, apperror.NotFound("user", id)
	}
	return u, a.err
}

func (a *accounts) SetPassword(_ context.Context, id string, p repository.NewPassword) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.users[id]
	u.PasswordHash, u.MustChangePassword, u.UpdateTime = p.Hash, p.MustChange, p.At
	a.users[id] = u
	clear(a.sessions)
	if p.Session != nil {
		a.sessions[p.Session.TokenHash] = *p.Session
	}
	return a.err
}

func (a *accounts) CountUsers(context.Context) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.users), a.err
}

func (a *accounts) AddSession(_ context.Context, s entity.Session, _ int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.TokenHash] = s
	return a.err
}

func (a *accounts) SessionByHash(_ context.Context, hash string, _ time.Time) (entity.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.sessions[hash]
	if !ok && a.err == nil {
		return s, apperror.NotFound("session", hash)
	}
	return s, a.err
}

func (a *accounts) SessionUsers(_ context.Context, hashes []string, now time.Time) (map[string]entity.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := map[string]entity.User{}
	for _, hash := range hashes {
		if s, ok := a.sessions[hash]; ok && s.ExpiresAt.After(now) {
			found[hash] = a.users[s.UserID]
		}
	}
	return found, a.err
}

func (a *accounts) DropSession(_ context.Context, hash string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, hash)
	return a.err
}

func (a *accounts) SessionsOf(_ context.Context, userID string, now time.Time) ([]entity.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []entity.Session
	for _, s := range a.sessions {
		if s.UserID == userID && s.ExpiresAt.After(now) {
			out = append(out, s)
		}
	}
	return out, a.err
}

func (a *accounts) DropSessions(_ context.Context, userID, keep string) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.sessions)
	maps.DeleteFunc(a.sessions, func(hash string, s entity.Session) bool { return s.UserID == userID && hash != keep })
	return before - len(a.sessions), a.err
}

// quickHasher is no hasher at all; it counts its work.
type quickHasher struct {
	mu    sync.Mutex
	calls int
}

func (h *quickHasher) work() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
}

func (h *quickHasher) Hash(_ context.Context, p string) (string, error) { return "hash of " + p, nil }

func (h *quickHasher) Verify(_ context.Context, p, encoded string) (bool, error) {
	h.work()
	return encoded == "hash of "+p, nil
}

func (h *quickHasher) Burn(context.Context, string) error {
	h.work()
	return nil
}

func (h *quickHasher) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// slowHasher checks nothing before release is closed.
type slowHasher struct {
	quickHasher
	release chan struct{}
}

func (h *slowHasher) Verify(ctx context.Context, p, encoded string) (bool, error) {
	<-h.release
	return h.quickHasher.Verify(ctx, p, encoded)
}

func (h *slowHasher) Burn(ctx context.Context, p string) error {
	<-h.release
	return h.quickHasher.Burn(ctx, p)
}
