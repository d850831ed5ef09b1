// Package approval says who may vote in the approvals of workflow runs, and takes their votes (docs/workflows.md).
package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Users are those who may sign in.
type Users interface {
	// ListUsers: see repository.UserAdmin.
	ListUsers(ctx context.Context, p repository.Page) (users []entity.User, next string, err error)
}

// Teams are settings of alerting.
type Teams interface {
	// AlertSettings: see repository.AlertSettings.
	AlertSettings(ctx context.Context, kinds []alert.Kind, limit int) ([]alert.Setting, error)
}

// Electorate finds who may vote. Safe for concurrent use.
type Electorate struct {
	Users Users
	Teams Teams
	// Holds reports whether a user holds the permission workflow:approve in a group.
	Holds func(u entity.User, group string) bool
}

// Voters are those of an approval that opens.
type Voters struct {
	// IDs are nil where each one votes who holds the permission at that moment.
	IDs []string
	// Excluded is the id of the user who triggered the run; empty is nobody.
	Excluded string
	// Wrong says why nobody can give the approval; empty where somebody can.
	Wrong string
}

// usersAtOnce are how many users one statement reads.
const usersAtOnce = 500

// Voters finds those of an approval of a workflow in a group. triggerer is the name of the user who triggered the run.
func (e *Electorate) Voters(ctx context.Context, group string, a *wf.Approval, triggerer string) (v Voters, err error) {
	users, err := e.users(ctx)
	if err != nil {
		return v, err
	}
	var short []string
	if a.NotBy == wf.NotByTriggerer && triggerer != "" {
		if at := slices.IndexFunc(users, func(u entity.User) bool { return u.Name == triggerer }); at >= 0 {
			v.Excluded = users[at].ID
			short = append(short, triggerer+" triggered the run")
		}
	}
	var able []string
	if len(a.Users) == 0 && len(a.Teams) == 0 {
		for _, u := range users {
			if e.Holds(u, group) {
				able = append(able, u.ID)
			}
		}
		short = append(short, "the others do not hold the permission workflow:approve in the group "+group)
	} else {
		named, missing, err := e.named(ctx, group, a, users)
		if err != nil {
			return v, err
		}
		able, short = named, append(short, missing...)
		if v.IDs = named; v.IDs == nil {
			v.IDs = []string{}
		}
	}
	able = slices.DeleteFunc(slices.Clone(able), func(id string) bool { return id == v.Excluded })
	if need := max(a.Need, 1); len(able) < need {
		v.Wrong = fmt.Sprintf("approval.need is %d, and %d can vote", need, len(able))
		if len(short) > 0 {
			v.Wrong += ": " + strings.Join(short, "; ")
		}
	}
	return v, nil
}

// users are all that may sign in.
func (e *Electorate) users(ctx context.Context) (all []entity.User, err error) {
	for p := (repository.Page{Limit: usersAtOnce}); ; {
		page, next, err := e.Users.ListUsers(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("read the users: %w", err)
		}
		for _, u := range page {
			if u.Role != entity.RoleDisabled {
				all = append(all, u)
			}
		}
		if p.Cursor = next; next == "" {
			return all, nil
		}
	}
}

// named are the ids of the users, and of the members of the teams, that an approval names, each once. missing says what
// of them is not there.
func (e *Electorate) named(ctx context.Context, group string, a *wf.Approval, users []entity.User,
) (ids, missing []string, err error) {
	byName, exists := map[string]string{}, map[string]bool{}
	for _, u := range users {
		byName[u.Name], exists[u.ID] = u.ID, true
	}
	seen := map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	for _, name := range a.Users {
		if id, known := byName[name]; known {
			add(id)
		} else {
			missing = append(missing, fmt.Sprintf("the user %s does not exist, or is disabled", name))
		}
	}
	if len(a.Teams) == 0 {
		return ids, missing, nil
	}
	teams, err := e.teams(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range a.Teams {
		team := teamOf(teams, group, name)
		if team == nil {
			missing = append(missing, fmt.Sprintf("the team %s does not exist for the group %s", name, group))
			continue
		}
		members := 0
		for _, id := range team.Members {
			if exists[id] {
				members++
				add(id)
			}
		}
		if members == 0 {
			missing = append(missing, fmt.Sprintf("the team %s has no members", name))
		}
	}
	return ids, missing, nil
}

// teams are those of all groups, by id.
func (e *Electorate) teams(ctx context.Context) (map[string]*alert.Team, error) {
	stored, err := e.Teams.AlertSettings(ctx, []alert.Kind{alert.KindTeam}, bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the teams: %w", err)
	}
	return ruleset.Read[alert.Team](stored, alert.KindTeam, nil), nil
}

// teamOf is the team of that name which a group, or each group, may name; nil is none.
func teamOf(teams map[string]*alert.Team, group, name string) *alert.Team {
	for _, team := range teams {
		if team.Name == name && (team.Group == "" || team.Group == group) {
			return team
		}
	}
	return nil
}
