package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func (s *session) configCommand() *cobra.Command {
	return s.Parent(remote.Verb{
		Use: "config", Short: "Check or show the configuration", Local: true,
		Example: "config check --config scheduler.yaml\nconfig show",
	}, remote.Verb{
		Use: "check", Short: "Check the configuration; exit code 1 names every wrong key", Run: s.configCheck,
		Long: `Check the configuration as a start would: every key, the keys of secrets, the
certificate, and the user and the interpreters of commands. Nothing is made. Of
the services only the brokers of Kafka are asked; one that does not answer is a
warning, because a server starts without them. Variables that begin with PS_ and
are no key are a warning, as other programs have such ones; with --strict each
warning is an error.`,
		Example: "config check --config scheduler.yaml\nconfig check --strict",
		Own:     []remote.Flag{{Name: "strict", Default: false, Help: "treat warnings as errors"}},
	}, remote.Verb{
		Use: "show", Short: "Show the configuration in force on this machine; secrets are masked",
		Run: s.configShow,
		Long: `Show the configuration as a start on this machine would use it: commands are off
where a server that runs as root was not told a user for them, and interpreters
that are not installed are left out. Secrets are masked.`,
		Example: "config show\nconfig show -o json",
	}, remote.Verb{
		Use: "example", Short: "Print a configuration file with every key, its meaning and its default",
		Example: "config example > scheduler.yaml", Run: func(k *remote.Call) error {
			defaults := config.Defaults(config.ProfileStandalone)
			return written(k, defaults.MaskedTree(), config.Example)
		},
	})
}

func (s *session) configCheck(k *remote.Call) error {
	cfg, warnings, err := config.Load(s.sources())
	if err == nil {
		var notes []string
		notes, err = offline.Check(k.Cmd.Context(), cfg)
		warnings = append(warnings, notes...)
	}
	var wrong config.Problems
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if err == nil && k.On("strict") && len(warnings) > 0 {
		err = fmt.Errorf("there are %d warnings, which --strict takes for errors", len(warnings))
	}
	if !s.ForPeople() {
		s.Value(map[string]any{
			"good": err == nil, "problems": append(config.Problems{}, wrong...),
			"warnings": append([]string{}, warnings...),
		})
		return err
	}
	s.warn(warnings)
	if err == nil {
		s.Line("the configuration is good")
	}
	return err
}

func (s *session) configShow(k *remote.Call) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	cfg, notes, err := executors.Effective(cfg)
	if err != nil {
		return err
	}
	s.warn(notes)
	return written(k, cfg.MaskedTree(), cfg.MaskedYAML)
}

// written prints a configuration: its values for programs, a file for people.
func written(k *remote.Call, values any, file func() (string, error)) error {
	text, err := file()
	if err == nil {
		k.Either(values, "%s", strings.TrimSuffix(text, "\n"))
	}
	return err
}

func (s *session) versionCommand() *cobra.Command {
	return s.Command(remote.Verb{
		Use: "version", Short: "Show the version", Example: "version\nversion -o json", Local: true,
		Run: func(k *remote.Call) error {
			k.Either(app.Build(), "platform-scheduler %s", app.Version())
			return nil
		},
	})
}
