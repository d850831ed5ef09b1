// Package documents holds the commands about jobs as files: apply, export, backup and restore.
package documents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// aboutFiles is what apply and diff read.
const aboutFiles = `A job is known by its group and its name, a setting of alerting by its kind and
its name. A file holds what export writes, one job, or an array of jobs; a folder
is read with all below it; - is standard input.`

// Apply is job apply, and apply.
var Apply = remote.Verb{
	Use:   "apply -f FILE|DIR|-",
	Args:  cobra.NoArgs,
	Short: "Create and update jobs and alert settings from YAML or JSON files",
	Long: `Create the jobs and the settings of alerting of YAML or JSON files, and edit
those that differ.

` + aboutFiles + `

All definitions are checked before anything is changed, then each one is changed
by itself: one that fails does not stop the others, and the exit code is 1.
"enabled": false makes a job without a plan, or pauses it; true resumes it;
where it is left out, a new job is enabled and another stays as it is.

A secret of a channel may be {env: NAME} or {file: PATH}, which are read here.
Where it is left out, or ***, the stored one stays; a new channel without it is
made disabled, and a warning says so.

With --prune the jobs and settings that would be deleted are shown first, and on
a terminal you are asked. --dry-run --exit-code ends with 1 where anything differs.`,
	Example: "job apply -f jobs.yaml --dry-run --exit-code\njob apply -f jobs/ --prune",
	Piped:   "\n  generate-jobs | platform-scheduler job apply -f -",
	Own: []remote.Flag{
		{
			Name: "file", Short: "f",
			Help: "`FILE`, folder of *.yaml, *.yml and *.json files, or - for standard input",
		},
		{Name: "dry-run", Default: false, Help: "show what would change, and change nothing"},
		{Name: "exit-code", Default: false, Help: "with --dry-run, exit with code 1 if anything would change"},
		{Name: "prune", Default: false, Help: "delete the other jobs of the groups in the files, and there the other " +
			"settings of the kinds in the files"},
	},
	Asks: true,
	Check: func(k *remote.Call) error {
		switch {
		case k.Given("file") == "":
			return usage.Errorf("-f names a file or a folder, or is - for standard input")
		case k.Changed("group"):
			return usage.Errorf("--group chooses nothing here: the file names the group of each job")
		case k.On("exit-code") && !k.On("dry-run"):
			return usage.Errorf("--exit-code goes with --dry-run")
		}
		return nil
	},
	Run: apply,
}

// applyAll is Apply beside diff and export.
func applyAll() remote.Verb {
	v := Apply
	v.Example = "apply -f settings.yaml --dry-run --exit-code\napply -f settings/ --prune"
	v.Piped = "\n  generate-settings | platform-scheduler apply -f -"
	return v
}

// applying is one run of job apply, or of restore.
type applying struct {
	*remote.Call
	dryRun, prune bool
}

func apply(k *remote.Call) error {
	a := &applying{k, k.On("dry-run"), k.On("prune")}
	ctx := k.Cmd.Context()
	d, err := readDefinitions(k.Given("file"), os.Stdin)
	if err != nil {
		return err
	}
	if a.prune && !a.dryRun {
		if err := a.askToPrune(ctx, d); err != nil {
			return err
		}
	}
	return a.show(ctx, d, k.On("exit-code"))
}

// show runs, and shows what was done; a difference may be an error.
func (a *applying) show(ctx context.Context, d *definitions, tell bool) error {
	done, err := a.run(ctx, d)
	if err == nil {
		err = a.report(done)
	}
	if err == nil {
		err = a.missingSecrets(ctx, d)
	}
	if err == nil && tell && done.differs() {
		err = usage.ErrDifferent
	}
	return err
}

// diff is apply --dry-run --exit-code.
var diff = remote.Verb{
	Use:   "diff -f FILE|DIR|-",
	Args:  cobra.NoArgs,
	Short: "Show what apply would change; exit with code 1 if anything differs",
	Long: `Show what differs between files and the server, and change nothing. The exit code
is 1 if anything differs.

` + aboutFiles,
	Example: "diff -f settings/\ndiff -f settings/ --prune",
	Own:     []remote.Flag{Apply.Own[0], Apply.Own[3]},
	Check: func(k *remote.Call) error {
		if k.Given("file") == "" {
			return usage.Errorf("-f names a file or a folder, or is - for standard input")
		}
		return nil
	},
	Run: func(k *remote.Call) error {
		d, err := readDefinitions(k.Given("file"), os.Stdin)
		if err != nil {
			return err
		}
		return (&applying{k, true, k.On("prune")}).show(k.Cmd.Context(), d, true)
	},
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
	for _, one := range planned.Alerting {
		if one.Action == definition.ActionDelete {
			a.Notef("- delete %s %s", one.Kind.Noun(), one.Name)
		}
	}
	return a.Ask("Delete %d jobs and settings that are not in the files?", planned.Deleted)
}

// answer is what the server answered to a document, put together from several
// calls where there were several. raw is the very answer where one sufficed.
type answer struct {
	vo.Import
	raw json.RawMessage
}

// differs reports whether anything would change.
func (a answer) differs() bool {
	changed := func(g vo.ImportGroup) bool { return g.Action != definition.ActionUnchanged }
	return a.Created+a.Updated+a.Deleted+a.Failed > 0 || slices.ContainsFunc(a.Groups, changed)
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
	err = a.API.Call(ctx, "POST", "/import", query, c.body(), &part.raw)
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
var inDocument = regexp.MustCompile(`^(jobs|groups|alerting\.\w+)\[(\d+)\](.*)$`)

// inFile names a field by the file that it stands in.
func (c chunk) inFile(field string) string {
	m := inDocument.FindStringSubmatch(field)
	if m == nil {
		return field
	}
	entries := c.jobs
	if list, is := strings.CutPrefix(m[1], "alerting."); is {
		entries = c.settings[list]
	} else if m[1] == "groups" {
		entries = c.groups
	}
	i, err := strconv.Atoi(m[2])
	if err != nil || i >= len(entries) {
		return field
	}
	e, name := entries[i], ""
	if e.name != "" {
		name = " (" + e.name + ")"
	}
	return fmt.Sprintf("%s: %s[%d]%s%s", e.file, cmp.Or(e.list, m[1]), e.index, name, m[3])
}

// merge adds one answer to those before it.
func (a *answer) merge(part answer) {
	a.Groups = append(a.Groups, part.Groups...)
	a.Items = append(a.Items, part.Items...)
	a.Alerting = append(a.Alerting, part.Alerting...)
	a.Created += part.Created
	a.Updated += part.Updated
	a.Unchanged += part.Unchanged
	a.Deleted += part.Deleted
	a.Failed += part.Failed
}
