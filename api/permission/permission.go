// Package permission says who may do what. Every route names one permission;
// what a role does not hold is denied.
package permission

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
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
	Account  Permission = "account"
	JobRead  Permission = "job:read"
	JobWrite Permission = "job:write"
	JobRun   Permission = "job:run"
	// JobCommand is to define jobs that run commands on the nodes. Operators
	// hold it only where an admin gave it to them.
	JobCommand     Permission = "job:command"
	ExecutionRead  Permission = "execution:read"
	ExecutionWrite Permission = "execution:write"
	// WorkflowApprove is to vote in approvals of workflow runs that name nobody. ApprovalVote is to send a vote at all:
	// all hold it, because a viewer may be named. The approval itself says who has a vote.
	WorkflowApprove Permission = "workflow:approve"
	ApprovalVote    Permission = "approval:vote"
	// SecretRead shows which secrets there are; their values nobody can read.
	SecretRead Permission = "secret:read"
	// SecretWrite makes and changes secrets: admins all of them, operators to whom
	// an admin gave it those of the groups in which they are operators.
	SecretWrite Permission = "secret:write"
	// NodeWrite drains nodes, which concerns the jobs of all groups: operators
	// hold it who are bound to none.
	NodeWrite Permission = "node:write"
	// WorkerWrite drains workers. Operators hold it for workers of which they are operators in every job group that
	// these serve.
	WorkerWrite Permission = "worker:write"
	// WorkerAdmin shows and changes worker groups and their tokens, which say who gets runs and secrets.
	WorkerAdmin Permission = "worker:admin"
	// AlertRead shows alerts, rules, channels, silences, routes, templates, teams,
	// contacts and on-call plans; none of their secrets.
	AlertRead Permission = "alert:read"
	// AlertWrite makes and changes all of these but channels, and resolves alerts. An
	// editor of the jobs of a group holds it there.
	AlertWrite Permission = "alert:write"
	// AlertAck takes charge of alerts.
	AlertAck Permission = "alert:ack"
	// ChannelWrite makes and changes channels, which hold secrets and send data out of
	// the cluster. Operators hold it where an admin gave them SecretWrite.
	ChannelWrite Permission = "channel:write"
	// UserAdmin shows users, and in sessions the tokens of all.
	UserAdmin Permission = "user:admin"
	// UserWrite makes users and changes their rights and passwords. It is for
	// sessions alone: a token with it could make itself an account for everything.
	UserWrite Permission = "user:write"
	AuditRead Permission = "audit:read"
)

// All lists every permission that a route may name.
func All() []Permission {
	return append([]Permission{Public, Self, Account, UserWrite}, Scopes()...)
}

// Scopes lists what an API token can be narrowed to.
func Scopes() []Permission {
	return []Permission{
		JobRead, JobWrite, JobRun, JobCommand, ExecutionRead, ExecutionWrite, WorkflowApprove, ApprovalVote, SecretRead,
		SecretWrite,
		NodeWrite, WorkerWrite, WorkerAdmin, AlertRead, AlertWrite, AlertAck, ChannelWrite, UserAdmin, AuditRead,
	}
}

// Of lists what a user holds in the groups that the user sees; an unknown role
// holds nothing.
func Of(u entity.User) []Permission {
	switch u.Role {
	case entity.RoleAdmin:
		return append([]Permission{Self, Account, UserWrite}, Scopes()...)
	case entity.RoleOperator:
		held := []Permission{
			Self, Account, JobRead, JobWrite, JobRun, ExecutionRead, ExecutionWrite, SecretRead, AlertRead, AlertWrite,
			AlertAck, WorkerWrite, WorkflowApprove, ApprovalVote,
		}
		if u.Commands {
			held = append(held, JobCommand)
		}
		if u.Secrets {
			held = append(held, SecretWrite, ChannelWrite)
		}
		if u.Groups == nil {
			held = append(held, NodeWrite)
		}
		return held
	case entity.RoleViewer:
		return []Permission{Self, Account, JobRead, ExecutionRead, AlertRead, ApprovalVote}
	default:
		return nil
	}
}

// Allows reports whether a caller holds a permission: by role, narrowed by the
// scopes of the token, if there is one. Public is not asked here: it needs no
// caller.
func Allows(who entity.Principal, p Permission) bool {
	switch {
	case !slices.Contains(Of(who.User), p):
		return false
	case who.TokenID == "" || p == Self:
		return true
	case p == Account, p == UserWrite:
		return false
	}
	return who.Scopes == nil || slices.Contains(who.Scopes, string(p))
}

// Sees reports whether the jobs of a group exist for a caller.
func Sees(who entity.Principal, group string) bool {
	_, bound := who.User.Groups[group]
	return who.User.Groups == nil || bound
}

// AllowsIn is Allows for the jobs of one group: what the caller holds anywhere
// and by the role in that group.
func AllowsIn(who entity.Principal, p Permission, group string) bool {
	if !Allows(who, p) || !Sees(who, group) {
		return false
	}
	if who.User.Groups == nil {
		return true
	}
	there := who.User
	there.Role = who.User.Groups[group]
	return slices.Contains(Of(there), p)
}

// SeesAlerts reports whether what concerns a group exists for a caller. An object of no
// group concerns all of them: alerts of the cluster exist for callers who are bound to
// none.
func SeesAlerts(who entity.Principal, group string) bool {
	return AllowsFor(who, AlertRead, group)
}

// OfSetting is the right to write settings of alerting of a kind.
func OfSetting(kind alert.Kind) Permission {
	if kind == alert.KindChannel {
		return ChannelWrite
	}
	return AlertWrite
}

// SeesSetting reports whether a rule, a channel or what else people define for alerting
// exists for a caller. An object for all groups, everybody may see.
func SeesSetting(who entity.Principal, group string) bool {
	return Allows(who, AlertRead) && (group == "" || Sees(who, group))
}

// AllowsFor is AllowsIn, where no group is all of them: then it is for callers who are
// bound to none.
func AllowsFor(who entity.Principal, p Permission, group string) bool {
	if group == "" {
		return Allows(who, p) && who.User.Groups == nil
	}
	return AllowsIn(who, p, group)
}

// Changes reports whether calls with a permission change something, so that
// they are audited.
func Changes(p Permission) bool {
	switch p {
	case Self, Account, JobWrite, JobRun, ExecutionWrite, SecretWrite, NodeWrite, WorkerWrite, WorkerAdmin, AlertWrite,
		AlertAck, ChannelWrite, UserAdmin, UserWrite, ApprovalVote:
		return true
	}
	return false
}

// SeesSecret reports whether a secret exists for a caller: one for every group,
// or for one in which the caller may see secrets.
func SeesSecret(who entity.Principal, s entity.Secret) bool {
	if s.Groups == nil {
		return Allows(who, SecretRead)
	}
	return slices.ContainsFunc(s.Groups, func(group string) bool { return AllowsIn(who, SecretRead, group) })
}

// SecretGroups are the groups in which a caller may see secrets; nil is every
// group.
func SecretGroups(who entity.Principal) []string {
	if who.User.Groups == nil {
		return nil
	}
	groups := []string{}
	for group := range who.User.Groups {
		if AllowsIn(who, SecretRead, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// WritesSecret reports whether a caller may make or change a secret for some
// groups; nil is every group, which is for admins.
func WritesSecret(who entity.Principal, groups []string) bool {
	if groups == nil {
		return Allows(who, SecretWrite) && who.User.Role == entity.RoleAdmin
	}
	return !slices.ContainsFunc(groups, func(group string) bool { return !AllowsIn(who, SecretWrite, group) })
}

// SeesWorkers reports whether workers exist for a caller that serve some job groups: one of which the caller sees.
func SeesWorkers(who entity.Principal, jobGroups []string) bool {
	if who.User.Groups == nil {
		return Allows(who, JobRead)
	}
	return slices.ContainsFunc(jobGroups, func(group string) bool { return AllowsIn(who, JobRead, group) })
}

// WritesWorkers reports whether a caller may drain workers that serve some job groups.
func WritesWorkers(who entity.Principal, jobGroups []string) bool {
	if who.User.Groups == nil {
		return Allows(who, WorkerWrite)
	}
	return len(jobGroups) > 0 &&
		!slices.ContainsFunc(jobGroups, func(group string) bool { return !AllowsIn(who, WorkerWrite, group) })
}
