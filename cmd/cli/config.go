package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
)

func (s *session) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Check or show the configuration",
		Example: "  platform-scheduler config check --config scheduler.yaml\n  platform-scheduler config show",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use:     "check",
			Short:   "Check the configuration; exit code 1 names every wrong key",
			Example: "  platform-scheduler config check --config scheduler.yaml",
			Args:    usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				if _, err := s.load(); err != nil {
					return err
				}
				_, err := fmt.Fprintln(s.out, "the configuration is good")
				return err
			},
		},
		&cobra.Command{
			Use:     "show",
			Short:   "Show the configuration in force; secrets are masked",
			Example: "  platform-scheduler config show",
			Args:    usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				cfg, err := s.load()
				if err != nil {
					return err
				}
				text, err := cfg.MaskedYAML()
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(s.out, text)
				return err
			},
		},
	)
	return c
}

func (s *session) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Example: "  platform-scheduler version",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, "platform-scheduler", app.Version())
			return err
		},
	}
}
