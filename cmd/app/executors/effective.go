package executors

import (
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// Effective returns the configuration that a start would use on this machine: whether
// commands can run, and which interpreters are installed. The error is about the user
// of commands; notes are for people.
func Effective(cfg config.Config) (effective config.Config, notes []string, err error) {
	settings := &cfg.Executor.Command
	if !settings.Enabled {
		return cfg, nil, nil
	}
	account, err := command.FindAccount(settings.User, server)
	switch {
	case err != nil && settings.User == "":
		settings.Enabled = false
		return cfg, []string{"commands are off: " + err.Error()}, nil
	case err != nil:
		return cfg, nil, err
	}
	settings.User = account.Name
	asked := settings.Interpreters
	settings.Interpreters = command.Installed(asked)
	missing := slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
		return slices.Contains(settings.Interpreters, name)
	})
	if len(missing) > 0 {
		notes = append(notes, "not installed, and left out of executor.command.interpreters: "+strings.Join(missing, ", "))
	}
	return cfg, notes, nil
}
