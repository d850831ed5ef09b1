package command

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
)

// Owner returns the account as the owner of working folders.
func (a Account) Owner() workfolder.Owner {
	return workfolder.Owner{Name: a.Name, Change: a.Change, UID: int(a.UID), GID: int(a.GID)}
}

// FindAccount returns the user that commands run as: the named user, or the program's own user
// for an empty name. One that runs as root must name a user; it may name root. acts is what the
// program is: server or worker.
func FindAccount(name, acts string) (Account, error) {
	if name == "" {
		if os.Geteuid() == 0 {
			return Account{}, fmt.Errorf("this %s runs as root and will not run commands as root by accident: name a user "+
				"in executor.command.user (root itself, if that is what you want)", acts)
		}
		own, err := user.Current()
		if err != nil {
			//nolint:nilerr // a user without an entry in the user database still runs
			return Account{Name: strconv.Itoa(os.Geteuid())}, nil
		}
		return Account{Name: own.Username}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, fmt.Errorf("executor.command.user: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("executor.command.user %s: its id %q is no number", name, u.Uid)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("executor.command.user %s: its group %q is no number", name, u.Gid)
	}
	a := Account{Name: name, UID: uint32(uid), GID: uint32(gid), Change: uint32(uid) != uint32(os.Geteuid())}
	if a.Change && os.Geteuid() != 0 {
		return Account{}, fmt.Errorf("executor.command.user: only root can run commands as %s; start the %s as that "+
			"user instead", name, acts)
	}
	return a, nil
}
