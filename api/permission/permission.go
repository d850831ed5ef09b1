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
	Self           Permission = "self"
	JobRead        Permission = "job:read"
	JobWrite       Permission = "job:write"
	JobRun         Permission = "job:run"
	ExecutionRead  Permission = "execution:read"
	ExecutionWrite Permission = "execution:write"
	// SecretRead shows which secrets there are; their values nobody can read.
	SecretRead  Permission = "secret:read"
	SecretWrite Permission = "secret:write"
)

// All lists every permission that a route may name.
func All() []Permission {
	return []Permission{Public, Self, JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead, SecretWrite}
}

// Of lists what a role holds; an unknown role holds nothing.
func Of(r entity.Role) []Permission {
	switch r {
	case entity.RoleAdmin:
		return []Permission{Self, JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead, SecretWrite}
	case entity.RoleOperator:
		return []Permission{Self, JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead}
	case entity.RoleViewer:
		return []Permission{Self, JobRead, ExecutionRead}
	default:
		return nil
	}
}

// Allows reports whether a role holds a permission. Public is not asked here:
// it needs no role.
func Allows(r entity.Role, p Permission) bool { return slices.Contains(Of(r), p) }
