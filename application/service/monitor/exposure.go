package monitor

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// PartCommands is the part that tells of commands.
const PartCommands = "commands"

// CommandExposure checks whether more than one user can define commands that run as the
// server's own user. Such a command may read the store and its keys, so its author has
// the rights of an admin. Safe for concurrent use.
type CommandExposure struct {
	users  repository.UserAdmin
	logger *slog.Logger
	shared atomic.Bool
}

// NewCommandExposure wires the parts.
func NewCommandExposure(users repository.UserAdmin, logger *slog.Logger) *CommandExposure {
	return &CommandExposure{users: users, logger: logger}
}

// exposed says what is wrong, and the remedy.
const exposed = "commands run as the server's own user, and a second user may write jobs: the author of a command " +
	"can read the store and its keys. " +
	"Run the server as root with executor.command.user, or keep the right to commands to admins"

// RunOnce counts the users who may write jobs. It warns when there begin to be more
// than one.
func (x *CommandExposure) RunOnce(ctx context.Context) error {
	writers, cursor := 0, ""
	for {
		users, next, err := x.users.ListUsers(ctx, repository.Page{Limit: usersAtOnce, Cursor: cursor})
		if err != nil {
			return err
		}
		for _, u := range users {
			if u.Role == entity.RoleAdmin || u.Role == entity.RoleOperator {
				writers++
			}
		}
		if cursor = next; cursor == "" || writers > 1 {
			break
		}
	}
	if shared := writers > 1; x.shared.Swap(shared) != shared && shared {
		x.logger.Warn(exposed)
	}
	return nil
}

// usersAtOnce is how many users are read at once.
const usersAtOnce = 200

// Trouble says what is wrong; it never blocks.
func (x *CommandExposure) Trouble() (reason string, blocks bool) {
	if x.shared.Load() {
		return exposed, false
	}
	return "", false
}
