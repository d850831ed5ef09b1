package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// Check checks what a start needs: the keys of secrets, the certificate, the user and
// the interpreters of commands. It creates nothing. The error is of type
// config.Problems; notes are for people.
func Check(cfg config.Config) (notes []string, err error) {
	var problems config.Problems
	wrong := func(key string, err error) {
		problems = append(problems, config.Problem{Key: key, Message: strings.TrimPrefix(err.Error(), key+": ")})
	}
	if err := checkKeys(cfg); err != nil {
		wrong("secrets.key", err)
	}
	if t := cfg.Server.TLS; t.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
			wrong("server.tls", err)
		}
	}
	_, off, err := Effective(cfg)
	if err != nil {
		wrong("executor.command.user", err)
	}
	notes = append(notes, off...)
	if names := cfg.IdleKeys(); len(names) > 0 {
		notes = append(notes, idleNote(names))
	}
	if len(problems) > 0 {
		return notes, problems
	}
	return notes, nil
}

// checkKeys reads the keys of secrets without making one.
func checkKeys(cfg config.Config) error {
	folder := &dataFolder{path: cfg.DataDir}
	if cfg.Secrets.Key == "" && cfg.Secrets.FormerKeys == "" && cfg.Profile != config.ProfileCluster {
		if _, err := os.Stat(folder.file(KeyFile)); errors.Is(err, fs.ErrNotExist) {
			return nil // the first start makes it
		}
	}
	_, err := openKeyring(cfg, folder)
	return err
}

// Effective returns the configuration that a start would use on this machine: whether
// commands can run, and which interpreters are installed. The error is about the user
// of commands; notes are for people.
func Effective(cfg config.Config) (effective config.Config, notes []string, err error) {
	settings := &cfg.Executor.Command
	if !settings.Enabled {
		return cfg, nil, nil
	}
	account, err := command.FindAccount(settings.User)
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
	missing := slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return slices.Contains(settings.Interpreters, name) })
	if len(missing) > 0 {
		notes = append(notes, "not installed, and left out of executor.command.interpreters: "+strings.Join(missing, ", "))
	}
	return cfg, notes, nil
}

// idleNote says that keys do nothing.
func idleNote(names []string) string {
	return fmt.Sprintf("%s: set, and does nothing yet: events stay in process", strings.Join(names, ", "))
}
