package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

func (s *session) migrateCommand() *cobra.Command {
	return s.Parent(remote.Verb{
		Use: "migrate", Short: "Update the schema of the store, show its version, or copy the store", Local: true,
		Example: "migrate status", Piped: "\n  PS_STORE_DSN=… platform-scheduler migrate plan",
	}, remote.Verb{
		Use: "up", Short: "Apply the migrations that are missing", Example: "migrate up", Run: s.migrateUp,
		Long: `Apply the migrations that are missing. A server does so when it starts, unless
store.autoMigrate is false. See migrate plan for what it would do.`,
	}, remote.Verb{
		Use: "down", Short: "Undo the latest migration, and delete the data in its tables and columns",
		Long: `Undo the latest migration: the tables and columns that it made go, with what is
in them. It asks before; without a terminal it wants --yes. Stop every server
first, and keep a backup: a server of this version does the migration again when
it starts.`,
		Example: "migrate down\nmigrate down --yes", Asks: true, Run: s.migrateDown,
	}, remote.Verb{
		Use: "status", Short: "List the migrations; nothing is changed, and servers may run", Run: s.migrateStatus,
		Example: "migrate status\nmigrate status -o json",
	}, remote.Verb{
		Use: "plan", Short: "Show what this version would do to the schema, and whether it can be undone",
		Long: `Say which migrations a start of this version, or migrate up, would apply, and
whether the version before works with the schema afterwards. Nothing is changed,
and servers may run. Ask it with the new program before an upgrade.`,
		Example: "migrate plan --config /etc/platform-scheduler/config.yaml", Run: s.migratePlan,
	}, s.migrateCopy())
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

func (s *session) migrateUp(k *remote.Call) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	return offline.Migrate(k.Cmd.Context(), cfg, func(ctx context.Context, m *migrate.Migrator) error {
		applied, err := m.Up(ctx)
		if !s.ForPeople() {
			output.Items(&s.Printer, migrationsOf(applied))
		}
		for _, one := range applied {
			s.Line("applied %05d %s", one.Version, one.Name)
		}
		if err == nil && len(applied) == 0 {
			s.Line("the schema is up to date")
		}
		return err
	})
}

func (s *session) migrateDown(k *remote.Call) error {
	cfg, schema, err := s.schema(k)
	if err != nil {
		return err
	}
	if schema.Current == 0 {
		s.Line("there is nothing to undo")
		return nil
	}
	latest := schema.Migrations[0]
	for _, m := range schema.Migrations {
		if !m.AppliedAt.IsZero() {
			latest = m
		}
	}
	if err := k.Insist("Undo %05d %s, with the data in what it made?", latest.Version,
		latest.Name); err != nil {
		return err
	}
	return offline.Migrate(k.Cmd.Context(), cfg, func(ctx context.Context, m *migrate.Migrator) error {
		one, err := m.Down(ctx)
		if err == nil {
			undone := migrationsOf([]migrate.Migration{one})
			s.Either(vo.NewPage(undone, ""), "undone %05d %s", one.Version, one.Name)
		}
		return err
	})
}

func (s *session) migrateStatus(k *remote.Call) error {
	_, schema, err := s.schema(k)
	if err != nil {
		return err
	}
	if !s.ForPeople() {
		output.Items(&s.Printer, migrationsOf(schema.Migrations))
		return nil
	}
	var rows [][]string
	for _, m := range schema.Migrations {
		state, when := "pending", ""
		if !m.AppliedAt.IsZero() {
			state, when = "applied", m.AppliedAt.UTC().Format("2006-01-02 15:04:05Z07:00")
		}
		rows = append(rows, []string{fmt.Sprintf("%05d", m.Version), state, when, m.Name})
	}
	s.Rows([]string{"VERSION", "STATE", "APPLIED", "NAME"}, rows)
	return nil
}

func (s *session) schema(k *remote.Call) (cfg config.Config, schema migrate.Schema, err error) {
	if cfg, err = s.load(); err == nil {
		schema, err = offline.ReadSchema(k.Cmd.Context(), cfg)
	}
	return cfg, schema, err
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

func (s *session) migratePlan(k *remote.Call) error {
	_, schema, err := s.schema(k)
	if err != nil {
		return err
	}
	s.Either(plan{
		schema.Current, schema.Target, migrationsOf(schema.Pending()), schema.ServesThen, schema.WayBack(),
	}, "%s", strings.Join(planned(schema), "\n"))
	return nil
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

func (s *session) migrateCopy() remote.Verb {
	return remote.Verb{
		Use: "copy", Short: "Copy a standalone's data into an empty MySQL or MariaDB database",
		Long: `Copy the SQLite store of a standalone server, which must be stopped, into an
empty MySQL or MariaDB database: every table, compared afterwards row by row.
The SQLite file is not changed. A copy that was interrupted is started over
when the command is run again.`,
		Example: "migrate copy --to-driver mysql --to-dsn 'user:password@tcp(db:3306)/scheduler'\n" +
			"migrate copy --config scheduler.yaml --to-dsn-file /run/secrets/dsn",
		Own: append([]remote.Flag{
			{Name: "to-driver", Default: "mysql", Help: "the `DRIVER` of the new store; mysql is MariaDB's too"},
		}, dsnFlags()...),
		Check: func(k *remote.Call) error {
			if driver := k.Given("to-driver"); driver != config.DriverMySQL {
				return usage.Errorf("--to-driver is %q; it must be mysql", driver)
			}
			if (k.Given("to-dsn") == "") == (k.Given("to-dsn-file") == "") {
				return usage.Errorf("give one of --to-dsn and --to-dsn-file")
			}
			return nil
		},
		Run: func(k *remote.Call) error {
			dsn, err := givenDSN(k)
			if err != nil {
				return err
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			r, err := offline.CopyStore(k.Cmd.Context(), cfg, dsn, s.showCopied())
			if err != nil {
				return err
			}
			s.adviseCopied(cfg, r)
			return nil
		},
	}
}

// dsnFlags name the database of a store.
func dsnFlags() []remote.Flag {
	return []remote.Flag{
		{Name: "to-dsn", Help: "the new store as `user:password@tcp(host:port)/database`"},
		{Name: "to-dsn-file", Help: "a `FILE` that holds the DSN, so that no list of processes shows it"},
	}
}

// givenDSN is the DSN of the flags; empty where none is given.
func givenDSN(k *remote.Call) (string, error) {
	file := k.Given("to-dsn-file")
	if file == "" {
		return k.Given("to-dsn"), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read --to-dsn-file: %w", err)
	}
	dsn := strings.TrimSpace(string(text))
	if dsn == "" {
		return "", fmt.Errorf("--to-dsn-file: %s is empty", file)
	}
	return dsn, nil
}

// showCopied prints a line for each tenth of a table.
func (s *session) showCopied() func(storecopy.Progress) {
	var table string
	var tenth int64
	return func(c storecopy.Progress) {
		if c.Table != table {
			table, tenth = c.Table, 0
		}
		switch {
		case c.Verified:
			s.Line("%s: %d rows are equal", c.Table, c.Rows)
		case c.Rows > 0 && 10*c.Done/c.Rows > tenth:
			tenth = 10 * c.Done / c.Rows
			s.Line("%s: %d of %d rows", c.Table, c.Done, c.Rows)
		}
	}
}

// adviseCopied says what is left to do.
func (s *session) adviseCopied(cfg config.Config, r storecopy.Result) {
	r.Nodes = append([]string{}, r.Nodes...)
	s.Either(r, "%d rows were copied and compared. Start the server with store.driver mysql and this DSN, "+
		"and not on the old store again.", r.Rows)
	if r.Secrets > 0 {
		s.Line("%d secrets are sealed by a key that is not in the store: %s.", r.Secrets, offline.KeyAdvice(cfg))
	}
	if len(r.Nodes) > 0 {
		s.Line("The server was cut off while it ran jobs: start it first as the same node, with node.id %s, "+
			"so that these runs are recovered.", strings.Join(r.Nodes, ", "))
	}
}
