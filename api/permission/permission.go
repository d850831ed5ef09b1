// Package permission says who may do what. Every route names one permission;
// what a role does not hold is denied.
package permission

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Permission is the right that a route asks for.
type Permission string

// The permissions. The empty one is none at all: a route must not have it.
const (
	// Public needs no sign-in.
	Public Permission = "public"
	// Self is held by everyone who is signed in, over their own account.
	Self Permission = "self"
	// Account is Self for what a token must not do: passwords and tokens.
	Account        Permission = "account"
	JobRead        Permission = "job:read"
	JobWrite       Permission = "job:write"
	JobRun         Permission = "job:run"
	ExecutionRead  Permission = "execution:read"
	ExecutionWrite Permission = "execution:write"
	// SecretRead shows which secrets there are; their values nobody can read.
	SecretRead  Permission = "secret:read"
	SecretWrite Permission = "secret:write"
	// UserAdmin manages users and the tokens of others.
	UserAdmin Permission = "user:admin"
	AuditRead Permission = "audit:read"
)

// All lists every permission that a route may name.
func All() []Permission {
	return append([]Permission{Public, Self, Account}, Scopes()...)
}

// Scopes lists what an API token can be narrowed to.
func Scopes() []Permission {
	return []Permission{JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead, SecretWrite, UserAdmin, AuditRead}
}

// Of lists what a role holds; an unknown role holds nothing.
func Of(r entity.Role) []Permission {
	switch r {
	case entity.RoleAdmin:
		return append([]Permission{Self, Account}, Scopes()...)
	case entity.RoleOperator:
		return []Permission{Self, Account, JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead}
	case entity.RoleViewer:
		return []Permission{Self, Account, JobRead, ExecutionRead}
	default:
		return nil
	}
}

// Allows reports whether a caller holds a permission: by role, narrowed by the
// scopes of the token, if there is one. Public is not asked here: it needs no
// caller.
func Allows(who entity.Principal, p Permission) bool {
	switch {
	case !slices.Contains(Of(who.User.Role), p):
		return false
	case who.TokenID == "" || p == Self:
		return true
	case p == Account:
		return false
	}
	return who.Scopes == nil || slices.Contains(who.Scopes, string(p))
}

// Changes reports whether calls with a permission change something, so that
// they are audited.
func Changes(p Permission) bool {
	switch p {
	case Account, JobWrite, JobRun, ExecutionWrite, SecretWrite, UserAdmin:
		return true
	}
	return false
}
