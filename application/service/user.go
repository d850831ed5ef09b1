package service

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// UserService manages who may sign in. It is safe for concurrent use.
type UserService struct {
	users  repository.Users
	admin  repository.UserAdmin
	hasher PasswordHasher
	clock  clock.Clock
}

// NewUserService puts it together from its ports.
func NewUserService(users repository.Users, admin repository.UserAdmin, hasher PasswordHasher, c clock.Clock) *UserService {
	return &UserService{users: users, admin: admin, hasher: hasher, clock: c}
}

// NewUser is what an admin gives for a user.
type NewUser struct {
	Name, Password string
	Role           entity.Role
}

// Create adds a user, who can sign in at once.
func (s *UserService) Create(ctx context.Context, n NewUser) (entity.User, error) {
	wrong := append(checkUserName(n.Name), checkRole(n.Role)...)
	if err := fault.Invalid(append(wrong, weaknesses("password", n.Password, n.Name)...)); err != nil {
		return entity.User{}, err
	}
	hash, err := s.hasher.Hash(ctx, n.Password)
	if err != nil {
		return entity.User{}, fmt.Errorf("hash the password of a new user: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return entity.User{}, fmt.Errorf("make an id for a user: %w", err)
	}
	now := s.clock.Now()
	u := entity.User{ID: id.String(), Name: n.Name, PasswordHash: hash, Role: n.Role, CreateTime: now, UpdateTime: now}
	return u, s.users.AddUser(ctx, u)
}

// Get returns fault.KindNotFound for an unknown id.
func (s *UserService) Get(ctx context.Context, id string) (entity.User, error) {
	return s.users.UserByID(ctx, id)
}

// List is one page of users, oldest first.
func (s *UserService) List(ctx context.Context, p repository.Page) ([]entity.User, string, error) {
	return s.admin.ListUsers(ctx, p)
}

// Change gives a user another role and, where password is not empty, another
// password. Either ends the user's sessions.
func (s *UserService) Change(ctx context.Context, id string, role entity.Role, password string) (entity.User, error) {
	u, err := s.users.UserByID(ctx, id)
	if err != nil {
		return u, err
	}
	wrong := checkRole(role)
	if password != "" {
		wrong = append(wrong, weaknesses("password", password, u.Name)...)
	}
	if err := fault.Invalid(wrong); err != nil {
		return u, err
	}
	now := s.clock.Now()
	if role != u.Role {
		if err := s.admin.SetRole(ctx, id, role, now); err != nil {
			return u, err
		}
		u.Role, u.UpdateTime = role, now
	}
	if password == "" {
		return u, nil
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return u, fmt.Errorf("hash the new password of %s: %w", id, err)
	}
	u.UpdateTime = now
	return u, s.users.SetPassword(ctx, id, hash, now)
}

// Delete removes a user with sessions and tokens.
func (s *UserService) Delete(ctx context.Context, id string) error { return s.admin.DropUser(ctx, id) }

func checkUserName(name string) []fault.Field {
	bad := name == "" || utf8.RuneCountInString(name) > maxUserName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || !unicode.IsPrint(r) })
	if bad {
		return []fault.Field{{Field: "username", Code: "invalid", Message: fmt.Sprintf("must have 1 to %d printable characters, without spaces around them", maxUserName)}}
	}
	return nil
}

func checkRole(role entity.Role) []fault.Field {
	switch role {
	case entity.RoleAdmin, entity.RoleOperator, entity.RoleViewer, entity.RoleDisabled:
		return nil
	case "":
		return []fault.Field{{Field: "role", Code: "required", Message: "is required: admin, operator, viewer or disabled"}}
	}
	return []fault.Field{{Field: "role", Code: "unknown_value", Message: "must be one of admin, operator, viewer, disabled"}}
}
