package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The rights that the steps of a workflow ask of its editor.
const (
	runsJobs     = "job:run"
	runsCommands = "job:command"
)

// Rights say who may do what.
type Rights interface {
	// UserByID: see repository.Users.
	UserByID(ctx context.Context, id string) (entity.User, error)
	// Allows reports whether a user holds a permission in a group.
	Allows(u entity.User, permission, group string) bool
}

// Editors say who saved workflows, and which groups the jobs are in that their steps name.
type Editors interface {
	// EditorOf is the id of the user who saved the definition of a version; empty where nobody knows.
	EditorOf(ctx context.Context, id string, version int) (string, error)
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}

// Openings is the executor that asks once more for the rights of who saved a workflow last, before a run of it opens.
// All other attempts pass it as they are. Safe for concurrent use.
type Openings struct {
	Next    runner
	Catalog *Catalog
	Editors Editors
	Rights  Rights
}

// Run runs one attempt.
func (o *Openings) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	if run.Job.Type != entity.JobWorkflow {
		return o.Next.Run(ctx, run, rep)
	}
	refused, err := o.refused(ctx, run.Execution.JobID, run.Execution.JobVersion)
	if err != nil {
		return ending.Unread(ctx, "the rights of who saved the workflow last cannot be read", err)
	}
	if refused != "" {
		return entity.Outcome{
			Status: entity.StatusFailed, Reason: entity.ReasonInvalid, NoRetry: true,
			Message: validation.Text(refused, wf.MaxProblem),
		}
	}
	return o.Next.Run(ctx, run, rep)
}

// refused says why a version of a workflow may not run; empty: it may. A definition that cannot be read is left to the
// follower, and a workflow whose steps ask for no right is not looked up.
func (o *Openings) refused(ctx context.Context, id string, version int) (string, error) {
	flow, err := o.Catalog.Get(ctx, id, version)
	if invalid := (*InvalidError)(nil); errors.As(err, &invalid) {
		return "", nil
	}
	if err != nil || flow == nil {
		return "", err
	}
	jobs, commands := asks(flow)
	if len(jobs) == 0 && !commands {
		return "", nil
	}
	editor, err := o.Editors.EditorOf(ctx, id, version)
	if err != nil || editor == "" {
		return "", err
	}
	user, err := o.Rights.UserByID(ctx, editor)
	if apperror.Is(err, apperror.KindNotFound) || err == nil && user.Role == entity.RoleDisabled {
		return "the user who saved the workflow last is gone or disabled; save it again as somebody who may", nil
	}
	if err != nil {
		return "", err
	}
	groups, err := o.Editors.GroupsOf(ctx, jobs) // one that was never there fails its step
	if err != nil {
		return "", err
	}
	for _, group := range slices.Sorted(maps.Values(groups)) {
		if !o.Rights.Allows(user, runsJobs, group) {
			return lacks(user, runsJobs, group), nil
		}
	}
	if commands && !o.Rights.Allows(user, runsCommands, flow.Job.Group) {
		return lacks(user, runsCommands, flow.Job.Group), nil
	}
	return "", nil
}

func lacks(u entity.User, permission, group string) string {
	return fmt.Sprintf("%s, who saved the workflow last, does not hold %s in the group %s any more; save it again as "+
		"somebody who does", u.Name, permission, group)
}

// asks are the jobs that steps name, and whether a step runs a command.
func asks(flow *Workflow) (jobs []string, commands bool) {
	steps := flow.Graph.Definition().Steps
	for i := range steps {
		if steps[i].Job != nil {
			jobs = append(jobs, steps[i].Job.ID)
		}
		commands = commands || steps[i].Command != nil
	}
	return jobs, commands
}
