package documents

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

const notInBackup = `Not in it are: the values of secrets, of which it names those that the jobs use;
users and tokens; whether groups are paused; runs, logs, former versions and the
audit log. For those, back the store up.`

// Commands are those of this package that stand by themselves.
func Commands(s *remote.Session) []*cobra.Command {
	backup := &cobra.Command{
		Use:   "backup FILE",
		Short: "Save all groups and jobs to a file",
		Long: "Keep the definitions of all groups and jobs in a YAML file, which restore and job\napply take.\n\n" +
			notInBackup,
		Example: "  platform-scheduler backup scheduler.yaml",
		Args:    usage.Args(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return backup(c.Context(), s, args[0]) },
	}
	a := &applying{Session: s}
	restore := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore groups and jobs from a backup",
		Long: `Show what differs from a backup and which secrets are missing, ask, and then
create the jobs that are missing and edit those that differ. With --prune, other
jobs of the groups in the file are deleted.

` + notInBackup,
		Example: "  platform-scheduler restore scheduler.yaml\n  platform-scheduler restore scheduler.yaml --yes",
		Args:    usage.Args(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.restore(c.Context(), args[0]) },
	}
	a.question.Flag(restore)
	restore.Flags().BoolVar(&a.prune, "prune", false, "delete the other jobs of the groups in the file")
	return []*cobra.Command{backup, restore}
}

// secretName is how definitions name a secret.
var secretName = regexp.MustCompile(`\$\{secret\.([A-Za-z0-9._-]{1,50})\}`)

// secretsIn are the names of the secrets that definitions use, sorted.
func secretsIn(text []byte) []string {
	names := map[string]bool{}
	for _, m := range secretName.FindAllSubmatch(text, -1) {
		names[string(m[1])] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// kept is what backup says for programs.
type kept struct {
	File string `json:"file"`
	// Secrets are the names of those that the jobs use; their values are not kept.
	Secrets []string `json:"secrets"`
}

func backup(ctx context.Context, s *remote.Session, file string) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := export(ctx, api, "", formatYAML, &text); err != nil {
		return err
	}
	secrets := secretsIn(text.Bytes())
	err = wholeFile(file, 0o600, func(w io.Writer) error {
		if len(secrets) > 0 {
			if _, err := fmt.Fprintf(w, "# These secrets are used, and not in this file: %s\n",
				strings.Join(secrets, ", ")); err != nil {
				return err
			}
		}
		_, err := text.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	if !s.ForPeople() {
		return s.Value(kept{file, secrets})
	}
	return s.Line("kept in %s; the values of %d secrets are not in it", file, len(secrets))
}

func (a *applying) restore(ctx context.Context, file string) error {
	var err error
	if a.api, err = a.Client(); err != nil {
		return err
	}
	d, err := readDefinitions(file, strings.NewReader(""))
	if err != nil {
		return err
	}
	a.dryRun = true
	planned, err := a.run(ctx, d)
	if err != nil {
		return err
	}
	asks := !a.question.Answered()
	if asks && a.ForPeople() {
		if err := a.report(planned); err != nil {
			return err
		}
	}
	if err := a.missingSecrets(ctx, d); err != nil {
		return err
	}
	if asks {
		if err := a.question.Insist(a.Err, "Go on?"); err != nil {
			return err
		}
	}
	a.dryRun = false
	done, err := a.run(ctx, d)
	if err != nil {
		return err
	}
	return a.report(done)
}

// missingSecrets says which secrets the server does not have.
func (a *applying) missingSecrets(ctx context.Context, d *definitions) error {
	var text []byte
	for _, j := range d.jobs {
		text = append(text, j.raw...)
	}
	needed := secretsIn(text)
	if len(needed) == 0 {
		return nil
	}
	present, err := client.List[struct{ Name string }](ctx, a.api, "/secrets", nil, 0)
	if client.IsStatus(err, 403) {
		_, _ = fmt.Fprintf(a.Err, "you may not see which secrets there are; the jobs use %s\n", strings.Join(needed, ", "))
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range present {
		needed = slices.DeleteFunc(needed, func(name string) bool { return name == s.Name })
	}
	if len(needed) > 0 {
		_, _ = fmt.Fprintf(a.Err, "missing secrets, without which runs fail: %s\n", strings.Join(needed, ", "))
	}
	return nil
}
