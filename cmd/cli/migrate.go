package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

func (s *session) migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the schema of the store up to date, show where it is, or copy the store",
		Example: "  platform-scheduler migrate status\n  PS_STORE_DRIVER=mysql PS_STORE_DSN=… platform-scheduler migrate up",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		s.migrateStep("up", "Apply the migrations that are missing", func(ctx context.Context, m *persistence.Migrator) error {
			applied, err := m.Up(ctx)
			for _, one := range applied {
				_, _ = fmt.Fprintf(s.out, "applied %05d %s\n", one.Version, one.Name)
			}
			if err == nil && len(applied) == 0 {
				_, err = fmt.Fprintln(s.out, "the schema is up to date")
			}
			return err
		}),
		s.migrateStep("down", "Undo the latest migration", func(ctx context.Context, m *persistence.Migrator) error {
			one, err := m.Down(ctx)
			if err == nil {
				_, err = fmt.Fprintf(s.out, "undone %05d %s\n", one.Version, one.Name)
			}
			return err
		}),
		s.migrateStep("status", "List the migrations", func(ctx context.Context, m *persistence.Migrator) error {
			all, err := m.Status(ctx)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
			for _, one := range all {
				state := "pending"
				if !one.AppliedAt.IsZero() {
					state = "applied"
				}
				_, _ = fmt.Fprintf(w, "%05d\t%s\t%s\n", one.Version, state, one.Name)
			}
			return w.Flush()
		}),
		s.migrateCopy(),
	)
	return c
}

func (s *session) migrateStep(name, short string, run func(ctx context.Context, m *persistence.Migrator) error) *cobra.Command {
	return &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  platform-scheduler migrate " + name,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.load()
			if err != nil {
				return err
			}
			return app.Migrate(c.Context(), cfg, run)
		},
	}
}
