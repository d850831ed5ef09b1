package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
)

func (s *session) migrateCommand() *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use:     "migrate",
		Short:   "Update the schema of the store, show its version, or copy the store",
		Example: "  platform-scheduler migrate status\n  PS_STORE_DSN=… platform-scheduler migrate plan",
	})
	c.AddCommand(s.migrateUp(), s.migrateDown(), s.migrateStatus(), s.migratePlan(), s.migrateCopy())
	return c
}

// migration is a step of the schema, in the form of the API's answers.
type migration struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	// AppliedAt is null while the step is pending.
	AppliedAt vo.Time `json:"appliedAt"`
}

func migrationsOf(steps []migrate.Migration) []migration {
	out := make([]migration, len(steps))
	for i, m := range steps {
		out[i] = migration{m.Version, m.Name, vo.Time(m.AppliedAt)}
	}
	return out
}

func (s *session) migrateUp() *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Apply the migrations that are missing", Args: usage.Args(cobra.NoArgs),
		Long: `Apply the migrations that are missing. A server does so when it starts, unless
store.autoMigrate is false. See migrate plan for what it would do.`,
		Example: "  platform-scheduler migrate up",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.migrating(c.Context(), func(ctx context.Context, m *migrate.Migrator) error {
				applied, err := m.Up(ctx)
				if !s.ForPeople() {
					if shown := output.Items(&s.Printer, migrationsOf(applied)); err == nil {
						err = shown
					}
					return err
				}
				for _, one := range applied {
					_ = s.Line("applied %05d %s", one.Version, one.Name)
				}
				if err == nil && len(applied) == 0 {
					err = s.Line("the schema is up to date")
				}
				return err
			})
		},
	}
}

// migrating does something with the schema that no server may use meanwhile.
func (s *session) migrating(ctx context.Context, do func(ctx context.Context, m *migrate.Migrator) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	cfg, err := s.load()
	if err != nil {
		return err
	}
	return offline.Migrate(ctx, cfg, do)
}

func (s *session) migrateDown() *cobra.Command {
	var q terminal.Question
	c := &cobra.Command{
		Use: "down", Short: "Undo the latest migration, and delete the data in its tables and columns",
		Args: usage.Args(cobra.NoArgs),
		Long: `Undo the latest migration: the tables and columns that it made go, with what is
in them. It asks before; without a terminal it wants --yes. Stop every server
first, and keep a backup: a server of this version does the migration again when
it starts.`,
		Example: "  platform-scheduler migrate down\n  platform-scheduler migrate down --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			schema, err := offline.ReadSchema(c.Context(), cfg)
			if err != nil {
				return err
			}
			if schema.Current == 0 {
				return s.Line("there is nothing to undo")
			}
			latest := schema.Migrations[0]
			for _, m := range schema.Migrations {
				if !m.AppliedAt.IsZero() {
					latest = m
				}
			}
			if err := q.Insist(s.err, "Undo %05d %s, with the data in what it made?", latest.Version, latest.Name); err != nil {
				return err
			}
			return offline.Migrate(c.Context(), cfg, func(ctx context.Context, m *migrate.Migrator) error {
				one, err := m.Down(ctx)
				switch {
				case err != nil:
					return err
				case !s.ForPeople():
					return output.Items(&s.Printer, migrationsOf([]migrate.Migration{one}))
				}
				return s.Line("undone %05d %s", one.Version, one.Name)
			})
		},
	}
	q.Flag(c)
	return c
}

func (s *session) migrateStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the migrations; nothing is changed, and servers may run", Args: usage.Args(cobra.NoArgs),
		Example: "  platform-scheduler migrate status\n  platform-scheduler migrate status -o json",
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := s.schema(c.Context())
			if err != nil {
				return err
			}
			if !s.ForPeople() {
				return output.Items(&s.Printer, migrationsOf(schema.Migrations))
			}
			var rows [][]string
			for _, m := range schema.Migrations {
				state, when := "pending", ""
				if !m.AppliedAt.IsZero() {
					state, when = "applied", m.AppliedAt.UTC().Format("2006-01-02 15:04:05Z07:00")
				}
				rows = append(rows, []string{fmt.Sprintf("%05d", m.Version), state, when, m.Name})
			}
			return s.Rows([]string{"VERSION", "STATE", "APPLIED", "NAME"}, rows)
		},
	}
}

func (s *session) schema(ctx context.Context) (schema migrate.Schema, err error) {
	if err := s.Check(); err != nil {
		return schema, err
	}
	cfg, err := s.load()
	if err != nil {
		return schema, err
	}
	return offline.ReadSchema(ctx, cfg)
}

// plan is what a start of this program would do to the schema.
type plan struct {
	CurrentVersion int64       `json:"currentVersion"`
	ProgramVersion int64       `json:"programVersion"`
	Pending        []migration `json:"pending"`
	// OldestProgram is the oldest program, by the schema version that it knows,
	// that works with the schema afterwards.
	OldestProgram int64 `json:"oldestProgram"`
	// WayBack: the program before this one works with the schema afterwards.
	WayBack bool `json:"wayBack"`
}

func (s *session) migratePlan() *cobra.Command {
	return &cobra.Command{
		Use: "plan", Short: "Show what this version would do to the schema, and whether it can be undone",
		Args: usage.Args(cobra.NoArgs),
		Long: `Say which migrations a start of this version, or migrate up, would apply, and
whether the version before works with the schema afterwards. Nothing is changed,
and servers may run. Ask it with the new program before an upgrade.`,
		Example: "  platform-scheduler migrate plan --config /etc/platform-scheduler/config.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := s.schema(c.Context())
			if err != nil {
				return err
			}
			if !s.ForPeople() {
				return s.Value(plan{
					schema.Current, schema.Target, migrationsOf(schema.Pending()), schema.ServesThen,
					schema.WayBack(),
				})
			}
			return s.Line("%s", strings.Join(planned(schema), "\n"))
		},
	}
}

// planned says a plan in words.
func planned(schema migrate.Schema) []string {
	lines := []string{fmt.Sprintf("the store's schema is version %d; this program knows version %d", schema.Current,
		schema.Target)}
	pending := schema.Pending()
	switch {
	case schema.Current > schema.Target && schema.Serves <= schema.Target:
		return append(lines, "it is newer than this program and serves it: nothing would be changed")
	case schema.Current > schema.Target:
		return append(lines, fmt.Sprintf("it is newer than this program and serves programs from version %d on alone: this "+
			"program refuses it", schema.Serves))
	case len(pending) == 0:
		return append(lines, "nothing would be changed")
	}
	for _, m := range pending {
		lines = append(lines, fmt.Sprintf("would apply %05d %s", m.Version, m.Name))
	}
	switch {
	case schema.Current == 0:
	case schema.WayBack():
		lines = append(lines, fmt.Sprintf("way back: yes; programs from version %d on work with the schema afterwards, so "+
			"that nodes can be upgraded, and set back, one by one", schema.ServesThen))
	default:
		lines = append(lines, fmt.Sprintf("way back: NO; only programs from version %d on work with the schema afterwards. "+
			"Stop every node first, and keep a backup of the store", schema.ServesThen))
	}
	return lines
}
