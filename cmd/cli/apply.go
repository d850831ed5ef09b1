package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// defaultGroup is the group of jobs that name none.
const defaultGroup = "default"

func (r *remote) applyCommand() *cobra.Command {
	var file string
	var dryRun, prune bool
	c := &cobra.Command{
		Use:   "apply -f FILE|DIR",
		Short: "Create the jobs of YAML or JSON files, and edit those that differ",
		Long: `Create the jobs of YAML or JSON files, and edit those that differ. A job is
known by its group and its name. Nothing is changed when a file cannot be read.`,
		Example: "  platform-scheduler job apply -f jobs.yaml --dry-run\n  platform-scheduler job apply -f jobs/ --prune",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return fmt.Errorf("%w: -f names a file or a folder", errUsage)
			}
			api, err := r.client()
			if err != nil {
				return err
			}
			a := &applying{remote: r, api: api, dryRun: dryRun}
			return a.run(c.Context(), file, prune)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "`FILE` or folder of *.yaml, *.yml and *.json files")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().BoolVar(&prune, "prune", false, "delete the other jobs of the groups in the files")
	return c
}

// applying is one run of job apply.
type applying struct {
	*remote
	api    *client.Client
	dryRun bool
	counts struct{ created, changed, same, deleted int }
	failed int
}

// key is what a job is known by.
type key struct{ group, name string }

func (a *applying) run(ctx context.Context, path string, prune bool) error {
	wanted, err := readDefinitions(path)
	if err != nil {
		return err
	}
	present, err := client.List[map[string]any](ctx, a.api, "/jobs", nil, 0)
	if err != nil {
		return err
	}
	known := map[key]map[string]any{}
	for _, j := range present {
		known[keyOf(j)] = j
	}
	groups, seen := map[string]bool{}, map[key]bool{}
	for _, w := range wanted {
		k := keyOf(w)
		if seen[k] {
			return fmt.Errorf("the files define %q of the group %q twice", k.name, k.group)
		}
		groups[k.group], seen[k] = true, true
	}
	for _, w := range wanted {
		a.note(keyOf(w), a.one(ctx, w, known[keyOf(w)]))
	}
	if prune {
		for _, k := range slices.SortedFunc(maps.Keys(known), func(x, y key) int { return bytes.Compare([]byte(x.group+x.name), []byte(y.group+y.name)) }) {
			if groups[k.group] && !seen[k] {
				a.note(k, a.remove(ctx, k, known[k]))
			}
		}
	}
	would := ""
	if a.dryRun {
		would = " (dry run: nothing was changed)"
	}
	_, _ = fmt.Fprintf(a.out, "%d created, %d changed, %d unchanged, %d deleted%s\n", a.counts.created, a.counts.changed, a.counts.same, a.counts.deleted, would)
	if a.failed > 0 {
		return fmt.Errorf("%d of %d jobs could not be applied", a.failed, len(wanted))
	}
	return nil
}

// note goes on with the other jobs when one is refused.
func (a *applying) note(k key, err error) {
	if err != nil {
		a.failed++
		_, _ = fmt.Fprintf(a.err, "%s/%s: %v\n", k.group, k.name, err)
	}
}

// one creates or edits a job.
func (a *applying) one(ctx context.Context, wanted, present map[string]any) error {
	k := keyOf(wanted)
	if present == nil {
		a.counts.created++
		_, _ = fmt.Fprintf(a.out, "+ %s/%s\n", k.group, k.name)
		if a.dryRun {
			return nil
		}
		return a.api.Call(ctx, "POST", "/jobs", nil, wanted, nil)
	}
	changes := differences("", wanted, present)
	if len(changes) == 0 {
		a.counts.same++
		return nil
	}
	a.counts.changed++
	_, _ = fmt.Fprintf(a.out, "~ %s/%s\n", k.group, k.name)
	for _, change := range changes {
		_, _ = fmt.Fprintln(a.out, "    "+change)
	}
	if a.dryRun {
		return nil
	}
	body := maps.Clone(wanted)
	delete(body, "enabled")
	body["version"] = present["version"]
	return a.api.Call(ctx, "PUT", fmt.Sprint("/jobs/", present["id"]), nil, body, nil)
}

func (a *applying) remove(ctx context.Context, k key, present map[string]any) error {
	a.counts.deleted++
	_, _ = fmt.Fprintf(a.out, "- %s/%s\n", k.group, k.name)
	if a.dryRun {
		return nil
	}
	return a.api.Call(ctx, "DELETE", fmt.Sprint("/jobs/", url.PathEscape(fmt.Sprint(present["id"]))), nil, nil, nil)
}

func keyOf(definition map[string]any) key {
	k := key{group: defaultGroup, name: fmt.Sprint(definition["name"])}
	if group, ok := definition["group"].(string); ok && group != "" {
		k.group = group
	}
	return k
}

// differences lists the fields that a definition gives and a job has otherwise.
// What it does not give is not compared: the server's default stands for it.
func differences(path string, wanted, present map[string]any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if path == "" && (slices.Contains(ownFields(), name) || name == "enabled") {
			continue
		}
		want, have := wanted[name], present[name]
		inner, nested := want.(map[string]any)
		old, _ := have.(map[string]any)
		switch {
		case nested && old != nil && name != "jobData" && name != "labels":
			out = append(out, differences(path+name+".", inner, old)...)
		case !reflect.DeepEqual(want, have):
			out = append(out, fmt.Sprintf("%s%s: %s → %s", path, name, compact(have), compact(want)))
		}
	}
	return out
}

func compact(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// readDefinitions reads every definition of a file or a folder, in the order of
// the files' names.
func readDefinitions(path string) ([]map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
			more, err := filepath.Glob(filepath.Join(path, pattern))
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
		slices.Sort(files)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no *.yaml, *.yml or *.json files in %s", path)
	}
	var out []map[string]any
	for _, file := range files {
		more, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// readFile reads the documents of a file; JSON is YAML too. What they hold is
// made to look as if it came from JSON, so that it compares with answers.
func readFile(file string) ([]map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var out []map[string]any
	for {
		var document any
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		list, isList := document.([]any)
		if !isList {
			list = []any{document}
		}
		for _, item := range list {
			text, err := json.Marshal(item)
			if err != nil {
				return nil, err
			}
			var definition map[string]any
			if err := json.Unmarshal(text, &definition); err != nil || definition["name"] == nil {
				return nil, errors.New("each document must be a job, an object with a name, or a list of them")
			}
			out = append(out, definition)
		}
	}
}
