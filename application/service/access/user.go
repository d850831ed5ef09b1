package access

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// UserService manages who may sign in. It is safe for concurrent use.
type UserService struct {
	users  repository.Users
	admin  repository.UserAdmin
	hasher PasswordHasher
	clock  clock.Clock
}

// NewUserService puts it together from its ports.
func NewUserService(users repository.Users, admin repository.UserAdmin, hasher PasswordHasher,
	c clock.Clock,
) *UserService {
	return &UserService{users: users, admin: admin, hasher: hasher, clock: c}
}

// UserInput is what an admin gives for a user.
type UserInput struct {
	Name, Password string
	Role           entity.Role
	entity.Rights
	// KeepTokens: the API tokens stay when the password changes.
	KeepTokens bool
	// PasswordStays: the user need not change the password that is set here.
	PasswordStays bool
}

// Create adds a user, who can sign in at once.
func (s *UserService) Create(ctx context.Context, n UserInput) (entity.User, error) {
	wrong := append(checkUserName(n.Name), checkRole(n.Role)...)
	wrong = append(wrong, checkRights(n.Role, n.Rights)...)
	if err := apperror.Invalid(append(wrong, weaknesses("password", n.Password, n.Name)...)); err != nil {
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
	u := entity.User{
		ID: id.String(), Name: n.Name, PasswordHash: hash, Role: n.Role, Rights: n.Rights,
		MustChangePassword: !n.PasswordStays, CreateTime: now, UpdateTime: now,
	}
	return u, s.users.AddUser(ctx, u)
}

// Get returns apperror.KindNotFound for an unknown id.
func (s *UserService) Get(ctx context.Context, id string) (entity.User, error) {
	return s.users.UserByID(ctx, id)
}

// List is one page of users, oldest first.
func (s *UserService) List(ctx context.Context, p repository.Page) ([]entity.User, string, error) {
	return s.admin.ListUsers(ctx, p)
}

// Change gives a user another role, other rights and, where the password is not empty,
// another password. Each of these ends the user's sessions. Another password also ends the
// API tokens, unless KeepTokens is set.
func (s *UserService) Change(ctx context.Context, id string, n UserInput) (entity.User, error) {
	u, err := s.users.UserByID(ctx, id)
	if err != nil {
		return u, err
	}
	wrong := append(checkRole(n.Role), checkRights(n.Role, n.Rights)...)
	if n.Password != "" {
		wrong = append(wrong, weaknesses("password", n.Password, u.Name)...)
	}
	if err := apperror.Invalid(wrong); err != nil {
		return u, err
	}
	now := s.clock.Now()
	if n.Role != u.Role || !reflect.DeepEqual(n.Rights, u.Rights) {
		if err := s.admin.SetRole(ctx, id, n.Role, n.Rights, now); err != nil {
			return u, err
		}
		u.Role, u.Rights, u.UpdateTime = n.Role, n.Rights, now
	}
	if n.Password == "" {
		return u, nil
	}
	hash, err := s.hasher.Hash(ctx, n.Password)
	if err != nil {
		return u, fmt.Errorf("hash the new password of %s: %w", id, err)
	}
	u.UpdateTime, u.MustChangePassword = now, !n.PasswordStays
	return u, s.users.SetPassword(ctx, id, repository.NewPassword{
		Hash: hash, KeepTokens: n.KeepTokens, MustChange: u.MustChangePassword, At: now,
	})
}

// Delete removes a user with sessions, tokens and contacts of alerts.
func (s *UserService) Delete(ctx context.Context, id string) error { return s.admin.DropUser(ctx, id) }

// checkUserName keeps new names to characters of which no two look alike.
func checkUserName(name string) []apperror.Field {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if name == "" || len(name) > maxUserName || strings.Trim(name, plain+"._@+-") != "" ||
		!strings.ContainsRune(plain, rune(name[0])) {
		return []apperror.Field{{
			Field: "username", Code: "invalid",
			Message: fmt.Sprintf("must have 1 to %d ASCII letters, digits and . _ @ + -, and begin with a letter or digit",
				maxUserName),
		}}
	}
	return nil
}

// maxUserGroups bounds the groups that one user is bound to.
const maxUserGroups = 200

// checkRights finds groups that cannot exist and roles that cannot be held in
// a group.
func checkRights(role entity.Role, r entity.Rights) []apperror.Field {
	var wrong []apperror.Field
	add := func(field, code, message string) {
		wrong = append(wrong, apperror.Field{Field: field, Code: code, Message: message})
	}
	if role == entity.RoleAdmin && r.Groups != nil {
		add("groups", "not_for_admins", "an admin is bound to no groups: leave the field out, or choose another role")
		return wrong
	}
	if len(r.Groups) > maxUserGroups {
		add("groups", "too_many", fmt.Sprintf("must name at most %d groups", maxUserGroups))
		return wrong
	}
	for _, group := range slices.Sorted(maps.Keys(r.Groups)) {
		if problem := validation.GroupName(group); problem != "" {
			add("groups", "invalid", "names a group that cannot be: "+problem)
			return wrong
		}
		if held := r.Groups[group]; held != entity.RoleOperator && held != entity.RoleViewer {
			add("groups."+group, "unknown_value", "must be one of operator, viewer")
		}
	}
	return wrong
}

func checkRole(role entity.Role) []apperror.Field {
	switch role {
	case entity.RoleAdmin, entity.RoleOperator, entity.RoleViewer, entity.RoleDisabled:
		return nil
	case "":
		return []apperror.Field{{
			Field: "role", Code: "required",
			Message: "is required: admin, operator, viewer or disabled",
		}}
	}
	return []apperror.Field{{
		Field: "role", Code: "unknown_value",
		Message: "must be one of admin, operator, viewer, disabled",
	}}
}
