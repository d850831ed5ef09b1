package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

func (r *remote) applyCommand() *cobra.Command {
	a := &applying{remote: r}
	var file string
	c := &cobra.Command{
		Use:   "apply -f FILE|DIR|-",
		Short: "Bring jobs in line with YAML or JSON files",
		Long: `Create the jobs of YAML or JSON files, and edit those that differ. A job is
known by its group and its name. A file holds what job export writes, one job,
or a list of jobs; a folder is read with all below it; - is standard input.

All definitions are checked before anything is changed, then each job is changed
by itself: one that fails does not stop the others, and the exit code is 1.
"enabled": false makes a job without a plan, or pauses it; true resumes it;
where it is left out, a new job is enabled and another stays as it is.`,
		Example: "  platform-scheduler job apply -f jobs.yaml --dry-run\n  platform-scheduler job apply -f jobs/ --prune\n  generate-jobs | platform-scheduler job apply -f -",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return fmt.Errorf("%w: -f names a file or a folder, or is - for standard input", errUsage)
			}
			var err error
			if a.api, err = r.client(); err != nil {
				return err
			}
			d, err := readDefinitions(file, os.Stdin)
			if err != nil {
				return err
			}
			result, err := a.run(c.Context(), d)
			if err != nil {
				return err
			}
			return a.report(result)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "`FILE`, folder of *.yaml, *.yml and *.json files, or - for standard input")
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().BoolVar(&a.prune, "prune", false, "delete the other jobs of the groups in the files")
	return c
}

// applying is one run of job apply.
type applying struct {
	*remote
	api           *client.Client
	dryRun, prune bool
}

// run sends definitions. Many go in several calls; then all of them are checked
// by a dry run first, so that nothing is changed when something is wrong.
func (a *applying) run(ctx context.Context, d *definitions) (vo.Import, error) {
	chunks := d.chunks(a.prune)
	rounds := []bool{a.dryRun}
	if len(chunks) > 1 && !a.dryRun {
		rounds = []bool{true, false}
	}
	bar := newProgress(a.err, len(chunks)*len(rounds))
	defer bar.clear()
	var total vo.Import
	for _, dry := range rounds {
		total = vo.Import{DryRun: dry, Groups: []vo.ImportGroup{}, Items: []vo.ImportItem{}}
		for _, c := range chunks {
			part, err := a.send(ctx, c, dry)
			if err != nil && dry != a.dryRun {
				return total, fmt.Errorf("nothing was changed: %w", err)
			}
			if err != nil {
				return total, err
			}
			merge(&total, part)
			bar.step()
		}
	}
	return total, nil
}

func (a *applying) send(ctx context.Context, c chunk, dry bool) (part vo.Import, err error) {
	query := url.Values{"dryRun": {strconv.FormatBool(dry)}, "prune": {strconv.FormatBool(a.prune)}}
	err = a.api.Call(ctx, "POST", "/import", query, c.body(), &part)
	var p *client.Problem
	if errors.As(err, &p) {
		for i := range p.Errors {
			p.Errors[i].Field = c.inFile(p.Errors[i].Field)
		}
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
func merge(total *vo.Import, part vo.Import) {
	total.Groups = append(total.Groups, part.Groups...)
	total.Items = append(total.Items, part.Items...)
	total.Created += part.Created
	total.Updated += part.Updated
	total.Unchanged += part.Unchanged
	total.Deleted += part.Deleted
	total.Failed += part.Failed
}

// report shows what was done; that something failed is an error.
func (a *applying) report(v vo.Import) error {
	if a.output == "json" {
		if err := json.NewEncoder(a.out).Encode(v); err != nil {
			return err
		}
	} else {
		d := differ{out: a.out, err: a.err, colour: colourful(a.out, a.environment("NO_COLOR"))}
		d.show(v)
	}
	if v.Failed > 0 {
		return fmt.Errorf("%d could not be applied", v.Failed)
	}
	return nil
}

// summary counts in one line.
func summary(v vo.Import) string {
	counts := []string{
		fmt.Sprint(v.Created, " created"), fmt.Sprint(v.Updated, " updated"), fmt.Sprint(v.Unchanged, " unchanged"),
		fmt.Sprint(v.Deleted, " deleted"), fmt.Sprint(v.Failed, " failed"),
	}
	would := ""
	if v.DryRun {
		would = " (dry run: nothing was changed)"
	}
	return strings.Join(counts, ", ") + would
}
