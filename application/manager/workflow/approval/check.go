package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Check finds the users and teams of approvals that do not exist, for workflows of one group. It is for the check of
// one definition: what it has read stays as it was. A run asks again when its approval opens.
type Check struct {
	electorate *Electorate
	ctx        context.Context
	group      string
	// Made reports whether a team that is not there yet will be: a document makes it. Nil is none.
	Made  func(team string) bool
	users []entity.User
	err   error
}

// NewCheck begins a check. Err says afterwards whether the store answered.
func (e *Electorate) NewCheck(ctx context.Context, group string) *Check {
	return &Check{electorate: e, ctx: ctx, group: group}
}

// Err is why names could not be looked up; then nothing is said of them.
func (c *Check) Err() error { return c.err }

// Voters checks the users and teams that an approval names; the fields are those below it, such as users[0].
func (c *Check) Voters(a *wf.Approval) (faults []apperror.Field) {
	if len(a.Users) > 0 && c.users == nil && c.err == nil {
		c.users, c.err = c.electorate.users(c.ctx)
	}
	teams, err := c.electorate.teamsOf(c.ctx, c.group, a)
	if c.err = errors.Join(c.err, err); c.err != nil {
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
		if teams[name] == nil && (c.Made == nil || !c.Made(name)) {
			faults = append(faults, apperror.Field{
				Field: fmt.Sprintf("teams[%d]", i), Code: validation.CodeUnknown,
				Message: fmt.Sprintf("no team of the group %s, or of all groups, has the name %q; create it under /teams",
					c.group, name),
			})
		}
	}
	return faults
}
