package executors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// HelperCommand is the hidden first argument with which the binary starts as
// the helper of its commands.
const HelperCommand = "command-helper"

// commandLease is how long a helper runs commands without contact to its node. In a
// cluster that is as long as a node may work without a beat: the commands of a frozen
// node end before other nodes may repeat their runs.
func commandLease(cfg config.Config) time.Duration {
	if cfg.Profile != config.ProfileCluster {
		return 10 * time.Second
	}
	timing := liveness.Timing{Lease: time.Duration(cfg.Engine.LeaseMs) * time.Millisecond}
	return min(timing.Lease-timing.Margin(), 10*time.Second)
}

// commands holds the parts that run commands on this node.
type commands struct {
	executor *command.Executor
	launcher *supervise.Launcher
	account  command.Account
	folders  *workfolder.Area
	slots    int
}

// errNoFolders means that commands have no folder to work in.
type errNoFolders struct{ error }

// newCommands makes them where the configuration allows. It returns nil and logs the
// reason where a server runs as root without executor.command.user. The error is
// errNoFolders where the node can do everything else.
func newCommands(cfg config.Config, o Options) (*commands, error) {
	settings := cfg.Executor.Command
	if !settings.Enabled {
		return nil, nil
	}
	account, err := command.FindAccount(settings.User, o.acts())
	if err != nil && settings.User == "" {
		o.Logger.Warn("commands are off: " + err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program that helps with commands: %w", err)
	}
	name := o.Name
	if name == "" {
		if name, err = nameOnMachine(cfg); err != nil {
			return nil, err
		}
	}
	folders, err := openFolders(cfg, account, name, o.Name != "")
	if err != nil {
		return nil, errNoFolders{err}
	}
	launcher, err := supervise.New(o.Clock, o.Logger, supervise.Config{
		Argv: []string{binary, HelperCommand}, NodeID: name, Epoch: o.Clock.Now().UnixNano(), Lease: commandLease(cfg),
		Left: o.Left, Alone: true, Groups: true,
	})
	if err != nil {
		return nil, errors.Join(err, folders.Close())
	}
	return &commands{
		executor: command.New(o.Clock, launcher, command.Settings{
			Interpreters: command.Installed(settings.Interpreters), Account: account, Folders: folders,
			FolderMb: settings.FolderMb,
		}),
		launcher: launcher, account: account, folders: folders, slots: settings.Slots,
	}, nil
}

// nameOnMachine separates the processes and folders of this node from those of another
// installation with the same node id. It uses the data folder: only one process at a
// time uses it, and a restarted node has the same one.
func nameOnMachine(cfg config.Config) (string, error) {
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return "", fmt.Errorf("find the data folder: %w", err)
	}
	sum := sha256.Sum256([]byte(data))
	return cfg.Node.ID + "." + hex.EncodeToString(sum[:4]), nil
}

// openFolders opens the area for the folders of runs. Another user cannot enter the
// data folder, which belongs to the server alone; homeless programs have none.
func openFolders(cfg config.Config, account command.Account, name string, homeless bool) (*workfolder.Area, error) {
	if account.Change || homeless {
		return workfolder.Open(os.TempDir(), "platform-scheduler-"+name+"-", account.Owner())
	}
	base := filepath.Join(cfg.DataDir, "work")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for working folders: %w", err)
	}
	return workfolder.Open(base, "", account.Owner())
}

// isolation returns what isolates the commands of this node.
func (c *commands) isolation() metrics.Isolation {
	ending, memory, processes := c.launcher.Holds(c.account)
	return metrics.Isolation{User: c.account.Name, Ending: ending, Memory: memory, Processes: processes}
}

// prepare ends the commands that a former process of this node left. The caller owns
// the node's id already.
func (c *commands) prepare(logger *slog.Logger) {
	if n := c.launcher.Sweep(); n > 0 {
		logger.Warn("this node ended commands that its former process left", "processes", n)
	}
	if err := c.folders.Clear(); err != nil {
		logger.Warn("this node could not remove the folders that its former process left", "error", err)
	}
}

func (c *commands) close() error {
	return errors.Join(c.launcher.Close(), c.folders.Close())
}
