// Package documents holds the commands about jobs as files: apply, export,
// backup and restore.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// ApplyCommand is job apply.
func ApplyCommand(s *remote.Session) *cobra.Command {
	a := &applying{Session: s}
	var file string
	var exitCode bool
	c := &cobra.Command{
		Use:   "apply -f FILE|DIR|-",
		Short: "Create and update jobs from YAML or JSON files",
		Long: `Create the jobs of YAML or JSON files, and edit those that differ. A job is
known by its group and its name. A file holds what job export writes, one job,
or an array of jobs; a folder is read with all below it; - is standard input.

All definitions are checked before anything is changed, then each job is changed
by itself: one that fails does not stop the others, and the exit code is 1.
"enabled": false makes a job without a plan, or pauses it; true resumes it;
where it is left out, a new job is enabled and another stays as it is.

With --prune the jobs that would be deleted are shown first, and on a terminal
you are asked. --dry-run --exit-code ends with 1 where anything differs.`,
		Example: "  platform-scheduler job apply -f jobs.yaml --dry-run --exit-code\n  platform-scheduler job apply -f " +
			"jobs/ --prune\n  generate-jobs | platform-scheduler job apply -f -",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return usage.Errorf("-f names a file or a folder, or is - for standard input")
			case exitCode && !a.dryRun:
				return usage.Errorf("--exit-code goes with --dry-run")
			}
			return a.apply(c.Context(), file, exitCode)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "",
		"`FILE`, folder of *.yaml, *.yml and *.json files, or - for standard input")
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "with --dry-run, exit with code 1 if anything would change")
	c.Flags().BoolVar(&a.prune, "prune", false, "delete the other jobs of the groups in the files")
	a.question.Flag(c)
	return c
}

// applying is one run of job apply, or of restore.
type applying struct {
	*remote.Session
	api           *client.Client
	dryRun, prune bool
	question      terminal.Question
}

func (a *applying) apply(ctx context.Context, file string, exitCode bool) (err error) {
	if a.api, err = a.Client(); err != nil {
		return err
	}
	d, err := readDefinitions(file, os.Stdin)
	if err != nil {
		return err
	}
	if a.prune && !a.dryRun {
		if err := a.askToPrune(ctx, d); err != nil {
			return err
		}
	}
	done, err := a.run(ctx, d)
	if err != nil {
		return err
	}
	if err := a.report(done); err != nil {
		return err
	}
	if err := a.missingSecrets(ctx, d); err != nil {
		return err
	}
	if exitCode && done.differs() {
		return usage.ErrDifferent
	}
	return nil
}

// askToPrune shows which jobs would be deleted, and asks on a terminal.
func (a *applying) askToPrune(ctx context.Context, d *definitions) error {
	if _, ok := terminal.Of(os.Stdin); !ok {
		return nil
	}
	a.dryRun = true
	planned, err := a.run(ctx, d)
	a.dryRun = false
	if err != nil || planned.Deleted == 0 {
		return err
	}
	for _, item := range planned.Items {
		if item.Action == definition.ActionDelete {
			a.Notef("- delete %s/%s", item.Group, item.Name)
		}
	}
	return a.question.Ask(a.Err, "Delete %d jobs that are not in the files?", planned.Deleted)
}

// answer is what the server answered to a document, put together from several
// calls where there were several. raw is the very answer where one sufficed.
type answer struct {
	vo.Import
	raw json.RawMessage
}

// differs reports whether anything would change.
func (a answer) differs() bool {
	for _, g := range a.Groups {
		if g.Action != definition.ActionUnchanged {
			return true
		}
	}
	return a.Created+a.Updated+a.Deleted+a.Failed > 0
}

// run sends definitions. Many go in several calls; then all of them are checked
// by a dry run first, so that nothing is changed when something is wrong.
func (a *applying) run(ctx context.Context, d *definitions) (answer, error) {
	chunks := d.chunks(a.prune)
	rounds := []bool{a.dryRun}
	if len(chunks) > 1 && !a.dryRun {
		rounds = []bool{true, false}
	}
	bar := newProgress(a.Err, len(chunks)*len(rounds))
	defer bar.clear()
	var total answer
	for _, dry := range rounds {
		total = answer{Import: vo.Import{DryRun: dry, Groups: []vo.ImportGroup{}, Items: []vo.ImportItem{}}}
		for _, c := range chunks {
			part, err := a.send(ctx, c, dry)
			if err != nil && dry != a.dryRun {
				return total, fmt.Errorf("nothing was changed: %w", err)
			}
			if err != nil {
				return total, err
			}
			if len(chunks) == 1 {
				total.raw = part.raw
			}
			total.merge(part)
			bar.step()
		}
	}
	return total, nil
}

func (a *applying) send(ctx context.Context, c chunk, dry bool) (part answer, err error) {
	query := url.Values{"dryRun": {strconv.FormatBool(dry)}, "prune": {strconv.FormatBool(a.prune)}}
	err = a.api.Call(ctx, "POST", "/import", query, c.body(), &part.raw)
	var p *client.Problem
	if errors.As(err, &p) {
		for i := range p.Errors {
			p.Errors[i].Field = c.inFile(p.Errors[i].Field)
		}
	}
	if err == nil {
		err = json.Unmarshal(part.raw, &part.Import)
	}
	return part, err
}

// inDocument is a path of the server's: an entry of a list, and what is inside.
var inDocument = regexp.MustCompile(`^(jobs|groups)\[(\d+)\](.*)$`)

// inFile names a field by the file that it stands in.
func (c chunk) inFile(field string) string {
	m := inDocument.FindStringSubmatch(field)
	if m == nil {
		return field
	}
	entries := c.jobs
	if m[1] == "groups" {
		entries = c.groups
	}
	i, err := strconv.Atoi(m[2])
	if err != nil || i >= len(entries) {
		return field
	}
	e := entries[i]
	name := ""
	if e.name != "" {
		name = " (" + e.name + ")"
	}
	return fmt.Sprintf("%s: %s[%d]%s%s", e.at.file, m[1], e.at.index, name, m[3])
}

// merge adds one answer to those before it.
func (a *answer) merge(part answer) {
	a.Groups = append(a.Groups, part.Groups...)
	a.Items = append(a.Items, part.Items...)
	a.Created += part.Created
	a.Updated += part.Updated
	a.Unchanged += part.Unchanged
	a.Deleted += part.Deleted
	a.Failed += part.Failed
}
