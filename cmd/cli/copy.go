package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

func (s *session) migrateCopy() *cobra.Command {
	var driver, dsn, file string
	c := &cobra.Command{
		Use:   "copy",
		Short: "Copy a standalone's data into an empty MySQL or MariaDB database",
		Long: `Copy the SQLite store of a standalone server, which must be stopped, into an
empty MySQL or MariaDB database: every table, compared afterwards row by row.
The SQLite file is not changed. A copy that was interrupted is started over
when the command is run again.`,
		Example: "  platform-scheduler migrate copy --to-driver mysql --to-dsn 'user:password@tcp(db:3306)/scheduler'\n  " +
			"platform-scheduler migrate copy --config scheduler.yaml --to-dsn-file /run/secrets/dsn",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if driver != config.DriverMySQL {
				return usage.Errorf("--to-driver is %q; it must be mysql", driver)
			}
			if (dsn == "") == (file == "") {
				return usage.Errorf("give one of --to-dsn and --to-dsn-file")
			}
			if file != "" {
				text, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("read --to-dsn-file: %w", err)
				}
				dsn = strings.TrimSpace(string(text))
			}
			if err := s.Check(); err != nil {
				return err
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			r, err := offline.CopyStore(c.Context(), cfg, dsn, s.showCopied())
			if err != nil {
				return err
			}
			return s.adviseCopied(cfg, r)
		},
	}
	c.Flags().StringVar(&driver, "to-driver", config.DriverMySQL, "the `DRIVER` of the new store; mysql is MariaDB's too")
	c.Flags().StringVar(&dsn, "to-dsn", "", "the new store as `user:password@tcp(host:port)/database`")
	c.Flags().StringVar(&file, "to-dsn-file", "", "a `FILE` that holds the DSN, so that no list of processes shows it")
	return c
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
			_ = s.Line("%s: %d rows are equal", c.Table, c.Rows)
		case c.Rows > 0 && 10*c.Done/c.Rows > tenth:
			tenth = 10 * c.Done / c.Rows
			_ = s.Line("%s: %d of %d rows", c.Table, c.Done, c.Rows)
		}
	}
}

// copied is what migrate copy says for programs.
type copied struct {
	Rows int64 `json:"rows"`
	// Secrets is how many are sealed by a key that is not in the store.
	Secrets int64 `json:"secrets"`
	// Nodes are those that were cut off while they ran jobs: one of them is to
	// start first.
	Nodes []string `json:"nodes"`
}

// adviseCopied says what is left to do.
func (s *session) adviseCopied(cfg config.Config, r storecopy.Result) error {
	if !s.ForPeople() {
		return s.Value(copied{r.Rows, r.Secrets, append([]string{}, r.Nodes...)})
	}
	err := s.Line("%d rows were copied and compared. Start the server with store.driver mysql and this DSN, and not on "+
		"the old store again.", r.Rows)
	if r.Secrets > 0 {
		err = errors.Join(err, s.Line("%d secrets are sealed by a key that is not in the store: %s.", r.Secrets,
			offline.KeyAdvice(cfg)))
	}
	if len(r.Nodes) > 0 {
		err = errors.Join(err, s.Line("The server was cut off while it ran jobs: start it first as the same node, with "+
			"node.id %s, so that these runs are recovered.", strings.Join(r.Nodes, ", ")))
	}
	return err
}
