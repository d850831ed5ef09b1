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
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

const notInBackup = `Not in it are: the values of secrets, of which it names those that the jobs use,
and the secrets of channels; users and tokens, whom settings of alerting name by
their names; whether groups are paused; runs, logs, former versions and the audit
log. For those, back the store up. A channel that restore has to make without its
secret is disabled, and a warning names what it lacks.`

// Commands are those of this package that stand by themselves.
func Commands(s *remote.Session) []*cobra.Command {
	return s.Commands(remote.Verb{
		Use: "backup FILE", Short: "Save all groups, jobs and alert settings to a file", Example: "backup scheduler.yaml",
		Run: backup,
		Long: `Keep the definitions of all groups, jobs and settings of alerting in a YAML file,
which restore and apply take.

` + notInBackup,
	}, remote.Verb{
		Use: "restore FILE", Short: "Restore groups, jobs and alert settings from a backup",
		Long: `Show what differs from a backup and which secrets are missing, ask, and then
create the jobs and settings that are missing and edit those that differ. With
--prune, other jobs of the groups in the file are deleted, and there other
settings of the kinds in the file.

` + notInBackup,
		Example: "restore scheduler.yaml\nrestore scheduler.yaml --yes", Asks: true, Run: restore,
		Own: []remote.Flag{{Name: "prune", Default: false, Help: Apply.Own[3].Help}},
	}, applyAll(), diff, exportAll)
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

func backup(k *remote.Call) error {
	file := k.Args[0]
	var text bytes.Buffer
	if err := export(k, "", output.YAML, "all", &text); err != nil {
		return err
	}
	secrets := secretsIn(text.Bytes())
	err := wholeFile(file, 0o600, func(w io.Writer) error {
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
	k.Either(map[string]any{"file": file, "secrets": secrets},
		"kept in %s; the values of %d secrets are not in it", file, len(secrets))
	return nil
}

func restore(k *remote.Call) error {
	a := &applying{k, true, k.On("prune")}
	ctx := k.Cmd.Context()
	d, err := readDefinitions(k.Args[0], strings.NewReader(""))
	if err != nil {
		return err
	}
	planned, err := a.run(ctx, d)
	if err != nil {
		return err
	}
	asks := !a.Question.Answered()
	if asks && a.ForPeople() {
		if err := a.report(planned); err != nil {
			return err
		}
	}
	if err := a.missingSecrets(ctx, d); err != nil {
		return err
	}
	if asks {
		if err := a.Insist("Go on?"); err != nil {
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
	present, err := client.List[struct{ Name string }](ctx, a.API, "/secrets", nil, 0)
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
