package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

func (s *session) backupVerbs() []remote.Verb {
	return []remote.Verb{{
		Use: "backup DIR", Short: "Write a backup of the store, while its servers work", Run: s.storeBackup,
		Long: `Write what the store holds at one moment into a new file of DIR, read it back and
compare it. Servers work meanwhile; the command keeps within 30 % of a processor.
The file is a SQLite store, whatever the store is, and holds everything but
sessions, stored answers to repeated calls, and the key of the secrets: keep that
elsewhere. Restored, it stands by.`,
		Example: "store backup /var/backups/scheduler\nstore backup --without logs --fast /mnt/backup",
		Own: []remote.Flag{
			{Name: "without", Default: remote.Commas{}, Help: "leave out `logs` of runs, or history: everything that has ended"},
			{Name: "fast", Default: false, Help: "take a whole processor"},
		},
		Check: func(k *remote.Call) error {
			for _, what := range k.Listed("without") {
				if !slices.Contains([]string{"logs", "history"}, what) {
					return usage.Errorf("--without is %q; it must be logs or history", what)
				}
			}
			return nil
		},
	}, {
		Use: "verify FILE", Short: "Read a backup whole, and compare it with its sums", Run: s.storeVerify,
		Long: `Read a backup whole: its pages, its indexes, and each table against the sum that was
written with it. The command changes nothing, and needs no configuration.`,
		Example: "store verify /var/backups/scheduler/platform-scheduler-20261126T043000.000Z.db",
	}, {
		Use: "restore FILE", Short: "Put a backup into an empty store, which then stands by", Run: s.storeRestore,
		Long: `Verify a backup and put it into an empty store: the configured one, that of a data
folder, or a database of MySQL or MariaDB. Its servers stand by until ` + "`store activate`" + `.
A restore that was interrupted leaves a store that no server opens: run the command
again, which starts it over. The backup is not changed.`,
		Example: "store restore backup.db --to /var/lib/platform-scheduler\n" +
			"store restore backup.db --to-dsn-file /run/secrets/dsn",
		Own: append([]remote.Flag{
			{Name: "to", Help: "the data folder, a `DIR`, of a standalone server"},
			{Name: "without-key", Default: false, Help: "restore it although the key of its secrets is not here"},
		}, dsnFlags()...),
		Check: func(k *remote.Call) error {
			if count(k.Given("to"), k.Given("to-dsn"), k.Given("to-dsn-file")) > 1 {
				return usage.Errorf("give one of --to, --to-dsn and --to-dsn-file")
			}
			return nil
		},
	}}
}

// count is how many of the texts are given.
func count(texts ...string) int {
	return len(slices.DeleteFunc(texts, func(text string) bool { return text == "" }))
}

// untilSignal lets a command clean up when it is told to end.
func untilSignal(k *remote.Call) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(k.Cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

func (s *session) storeBackup(k *remote.Call) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(k)
	defer stop()
	without := k.Listed("without")
	b, err := offline.BackUp(ctx, cfg, k.Args[0], storecopy.Options{
		WithoutLogs:    slices.Contains(without, "logs"),
		WithoutHistory: slices.Contains(without, "history"),
		Fast:           k.On("fast"), By: operator(), Clock: clock.NewSystem(),
	}, s.showCopied())
	if err != nil {
		return err
	}
	s.Either(b, "%s: %d rows, %d bytes, as of %s, %s ago", b.File, b.Rows, b.Bytes, clock.Text(b.TakenAt),
		b.Age)
	if len(b.Keys) > 0 {
		s.Line("its secrets are sealed by the key %s, which is not in it: %s", strings.Join(b.Keys, ", "),
			offline.KeyAdvice(cfg))
	}
	return nil
}

func (s *session) storeVerify(k *remote.Call) error {
	b, err := offline.VerifyBackup(k.Cmd.Context(), k.Args[0], s.showCopied())
	if err == nil {
		s.Either(b, "%s is whole: %d rows as of %s, of the schema %d", b.File, b.Rows, clock.Text(b.TakenAt), b.Schema)
	}
	return err
}

func (s *session) storeRestore(k *remote.Call) error {
	dsn, err := givenDSN(k)
	if err != nil {
		return err
	}
	cfg, err := s.load()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(k)
	defer stop()
	b, err := offline.Restore(ctx, cfg, k.Args[0], offline.Target{Folder: k.Given("to"), DSN: dsn},
		k.On("without-key"), s.showCopied())
	if err != nil {
		return err
	}
	s.Either(b, "%d rows as of %s were restored. The servers of this store stand by: look around, then run "+
		"`platform-scheduler store activate`, which lists what fires.", b.Rows, clock.Text(b.TakenAt))
	if len(b.Nodes) > 0 {
		s.Line("Runs were in progress on %s: they count as lost once the store is active.", strings.Join(b.Nodes, ", "))
	}
	return nil
}
