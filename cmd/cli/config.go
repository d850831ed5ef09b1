package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func (s *session) configCommand() *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use:     "config",
		Short:   "Check or show the configuration",
		Example: "  platform-scheduler config check --config scheduler.yaml\n  platform-scheduler config show",
	})
	c.AddCommand(s.configCheck(), s.configShow(), s.configExample())
	return c
}

// checked is what config check says for programs.
type checked struct {
	Good     bool      `json:"good"`
	Problems []problem `json:"problems"`
	Warnings []string  `json:"warnings"`
}

// problem is a key that is wrong.
type problem struct {
	Key     string `json:"key"`
	Message string `json:"message"`
}

func (s *session) configCheck() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration; exit code 1 names every wrong key",
		Long: `Check the configuration as a start would: every key, the keys of secrets, the
certificate, and the user and the interpreters of commands. Nothing is made. Of
the services only the brokers of Kafka are asked; one that does not answer is a
warning, because a server starts without them. Variables that begin with PS_ and
are no key are a warning, as other programs have such ones; with --strict each
warning is an error.`,
		Example: "  platform-scheduler config check --config scheduler.yaml\n  platform-scheduler config check --strict",
		Args:    usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			cfg, warnings, err := config.Load(s.sources())
			if err == nil {
				var notes []string
				notes, err = offline.Check(c.Context(), cfg)
				warnings = append(warnings, notes...)
			}
			return s.reportCheck(warnings, err, strict)
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	return c
}

func (s *session) reportCheck(warnings []string, err error, strict bool) error {
	var wrong config.Problems
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if err == nil && strict && len(warnings) > 0 {
		err = fmt.Errorf("there are %d warnings, which --strict takes for errors", len(warnings))
	}
	if !s.ForPeople() {
		v := checked{Good: err == nil, Problems: []problem{}, Warnings: append([]string{}, warnings...)}
		for _, p := range wrong {
			v.Problems = append(v.Problems, problem(p))
		}
		return errors.Join(s.Value(v), err)
	}
	s.warn(warnings)
	if err != nil {
		return err
	}
	return s.Line("the configuration is good")
}

func (s *session) configShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the configuration in force on this machine; secrets are masked",
		Long: `Show the configuration as a start on this machine would use it: commands are off
where a server that runs as root was not told a user for them, and interpreters
that are not installed are left out. Secrets are masked.`,
		Example: "  platform-scheduler config show\n  platform-scheduler config show -o json",
		Args:    usage.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			cfg, notes, err := executors.Effective(cfg)
			if err != nil {
				return err
			}
			s.warn(notes)
			if !s.ForPeople() {
				return s.Value(cfg.MaskedTree())
			}
			text, err := cfg.MaskedYAML()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(s.Out, text)
			return err
		},
	}
}

func (s *session) configExample() *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a configuration file with every key, its meaning and its default",
		Example: "  platform-scheduler config example > scheduler.yaml",
		Args:    usage.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			if !s.ForPeople() {
				defaults := config.Defaults(config.ProfileStandalone)
				return s.Value(defaults.MaskedTree())
			}
			text, err := config.Example()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(s.Out, text)
			return err
		},
	}
}

func (s *session) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Example: "  platform-scheduler version\n  platform-scheduler version -o json",
		Args:    usage.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			if !s.ForPeople() {
				return s.Value(app.Build())
			}
			return s.Line("platform-scheduler %s", app.Version())
		},
	}
}
