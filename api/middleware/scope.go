package middleware

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// Object says what the parameters of a route name, so that callers who are
// bound to some groups are kept to them.
type Object int

// The kinds of object. A route with a parameter must declare one.
const (
	Undeclared Object = iota
	// Unbound objects are in no group: users, nodes; and secrets, which may be in
	// several and are judged by their controller.
	Unbound
	// Job, Execution and Group are judged by the group they belong to.
	// A dead letter is named by its execution.
	Job
	Execution
	Group
	// Everything is for callers who are bound to no groups.
	Everything
)

// GroupFinder maps ids of objects to their groups; what does not exist is left
// out.
type GroupFinder interface {
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}

// Scope judges objects by their groups.
type Scope struct{ Jobs, Executions GroupFinder }

// Check lets a call pass if the caller holds the permission for the object it
// names. An object that the caller may not see does not exist.
func (s Scope) Check(o Object, p permission.Permission) gin.HandlerFunc {
	return func(c *gin.Context) {
		pass(c, func() error { return s.authorize(c, o, p) })
	}
}

func (s Scope) authorize(c *gin.Context, o Object, p permission.Permission) error {
	who, known := CallerOf(c)
	if !known || who.User.Groups == nil || o == Unbound || o == Undeclared {
		return nil
	}
	if o == Everything {
		return apperror.New(apperror.KindForbidden, "forbidden",
			"this concerns the jobs of every group, and you are bound to some")
	}
	if len(c.Params) == 0 { // a list, which its controller narrows
		return nil
	}
	refused, err := s.Refused(c, o, p, []string{c.Params[0].Value})
	if err != nil {
		return err
	}
	return refused[c.Params[0].Value]
}

// Refused says which of the objects the caller may not treat so, and why.
func (s Scope) Refused(c *gin.Context, o Object, p permission.Permission, ids []string) (map[string]error, error) {
	who, _ := CallerOf(c)
	if who.User.Groups == nil {
		return nil, nil
	}
	groups, err := s.groups(c.Request.Context(), o, ids)
	if err != nil {
		return nil, err
	}
	refused := map[string]error{}
	for _, id := range ids {
		group, exists := groups[id]
		switch {
		case !exists || !permission.Sees(who, group):
			refused[id] = apperror.NotFound(o.String(), id)
		case !permission.AllowsIn(who, p, group):
			refused[id] = forbiddenIn(p, group)
		}
	}
	return refused, nil
}

func (s Scope) groups(ctx context.Context, o Object, ids []string) (map[string]string, error) {
	switch o {
	case Job:
		return s.Jobs.GroupsOf(ctx, ids)
	case Execution:
		return s.Executions.GroupsOf(ctx, ids)
	}
	groups := map[string]string{}
	for _, id := range ids {
		groups[id] = id
	}
	return groups, nil
}

// String is what the object is called in answers and documents.
func (o Object) String() string {
	switch o {
	case Unbound:
		return "unbound"
	case Job:
		return "job"
	case Execution:
		return "execution"
	case Group:
		return "group"
	case Everything:
		return "everything"
	}
	return ""
}

// Permit is nil if the caller holds the permission for the jobs of a group,
// for groups that a body names.
func Permit(c *gin.Context, p permission.Permission, group string) error {
	who, _ := CallerOf(c)
	if permission.AllowsIn(who, p, group) {
		return nil
	}
	return forbiddenIn(p, group)
}

// PermitFor is Permit, where no group is all of them: then it is for callers who are bound
// to none.
func PermitFor(c *gin.Context, p permission.Permission, group string) error {
	who, _ := CallerOf(c)
	switch {
	case permission.AllowsFor(who, p, group):
		return nil
	case group == "" && permission.Allows(who, p):
		return apperror.New(apperror.KindForbidden, "forbidden",
			"this is for all groups, and you are bound to some: name one of your groups")
	}
	return forbiddenIn(p, group)
}

func forbiddenIn(p permission.Permission, group string) error {
	where := " for all groups"
	if group != "" {
		where = " in the group " + group
	}
	return apperror.New(apperror.KindForbidden, "forbidden", "you do not hold the permission "+string(p)+where)
}

// VisibleGroups are the groups that a list may show to the caller; nil is all,
// and whoever is bound to no group sees none.
func VisibleGroups(c *gin.Context) []string {
	who, _ := CallerOf(c)
	if who.User.Groups == nil {
		return nil
	}
	return append([]string{}, slices.Sorted(maps.Keys(who.User.Groups))...)
}

// Holds is nil if the caller holds a permission, in whichever group.
func Holds(c *gin.Context, p permission.Permission) error {
	who, _ := CallerOf(c)
	if permission.Allows(who, p) {
		return nil
	}
	return forbidden(who, p)
}

// GroupsWith are the groups in which the caller holds a permission; nil is all.
func GroupsWith(c *gin.Context, p permission.Permission) []string {
	who, _ := CallerOf(c)
	visible := VisibleGroups(c)
	if visible == nil {
		return nil
	}
	return slices.DeleteFunc(visible, func(group string) bool { return !permission.AllowsIn(who, p, group) })
}

// VisibleGroupsIn narrows the groups that a list may show to one of them. An empty group narrows
// nothing. A group that the caller may not see leaves none, as if nothing were in it.
func VisibleGroupsIn(c *gin.Context, group string) []string {
	visible := VisibleGroups(c)
	switch {
	case group == "":
		return visible
	case visible == nil || slices.Contains(visible, group):
		return []string{group}
	default:
		return []string{}
	}
}

// PermitDefinition is nil if the caller may put such a job into its group.
func PermitDefinition(c *gin.Context, job *entity.Job) error {
	if err := Permit(c, permission.JobWrite, job.Group); err != nil {
		return err
	}
	for _, n := range chain.NamesOf(job) {
		group := job.Group
		if of, _, foreign := strings.Cut(n.Name, "/"); foreign {
			group = of
		}
		if err := Permit(c, permission.JobRun, group); err != nil {
			return err
		}
	}
	if !chain.Commands(job) {
		return nil
	}
	if err := Permit(c, permission.JobCommand, job.Group); err != nil {
		return apperror.New(apperror.KindForbidden, "commands_forbidden",
			"to define jobs that run commands you need the permission job:command, which an admin can give you")
	}
	return nil
}
