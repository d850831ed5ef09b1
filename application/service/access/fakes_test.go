package access_test

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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

func (a *accounts) SetPassword(_ context.Context, id, hash string, _ bool, at time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.users[id]
	u.PasswordHash, u.UpdateTime = hash, at
	a.users[id] = u
	clear(a.sessions)
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

func (a *accounts) DropSession(_ context.Context, hash string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, hash)
	return a.err
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
