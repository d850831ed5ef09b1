package approval

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Check finds the users and teams of approvals that do not exist. It is for the check of one definition, or of one
// document: what it has read stays as it was. A run asks again when its approval opens. It is for one goroutine.
type Check struct {
	electorate *Electorate
	ctx        context.Context
	// made reports whether a team that is not there yet will be there for a group: a document makes it. Nil is none.
	made  func(group, team string) bool
	users []entity.User
	teams map[string]*alert.Team
	err   error
}

// NewCheck begins a check; made reports whether a document makes a team for a group, nil is none. Err says afterwards
// whether the store answered.
func (e *Electorate) NewCheck(ctx context.Context, made func(group, team string) bool) *Check {
	return &Check{electorate: e, ctx: ctx, made: made}
}

// Err is why names could not be looked up; then nothing is said of them.
func (c *Check) Err() error { return c.err }

// Voters checks the users and teams that an approval of a workflow in a group names; the fields are those below it,
// such as users[0].
func (c *Check) Voters(group string, a *wf.Approval) (faults []apperror.Field) {
	if len(a.Users) > 0 && c.users == nil && c.err == nil {
		c.users, c.err = c.electorate.users(c.ctx)
	}
	if len(a.Teams) > 0 && c.teams == nil && c.err == nil {
		c.teams, c.err = c.electorate.teams(c.ctx)
	}
	if c.err != nil {
		return nil
	}
	for i, name := range a.Users {
		if !slices.ContainsFunc(c.users, func(u entity.User) bool { return u.Name == name }) {
			faults = append(faults, apperror.Field{
				Field: fmt.Sprintf("users[%d]", i), Code: validation.CodeUnknown,
				Message: fmt.Sprintf("no user who may sign in has the name %q; correct it, or create the user", name),
			})
		}
	}
	for i, name := range a.Teams {
		if teamOf(c.teams, group, name) == nil && (c.made == nil || !c.made(group, name)) {
			faults = append(faults, apperror.Field{
				Field: fmt.Sprintf("teams[%d]", i), Code: validation.CodeUnknown,
				Message: fmt.Sprintf("no team of the group %s, or of all groups, has the name %q; create it under /teams",
					group, name),
			})
		}
	}
	return faults
}
