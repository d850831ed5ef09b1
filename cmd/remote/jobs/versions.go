package jobs

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/difference"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// version is a definition of a job under one of its versions.
type version struct {
	Version    int                    `json:"version"`
	CreateTime *string                `json:"createTime"`
	CreatedBy  string                 `json:"createdBy"`
	Definition map[string]any         `json:"definition"`
	Changes    map[string]changedPair `json:"changes"`
}

// changedPair is [before, after].
type changedPair [2]any

// fields are the names of what a version changed; "" where that is not known.
func (v version) fields() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(v.Changes)), notDefined), ", ")
}

// notDefined are fields of a job that no definition sets.
func notDefined(name string) bool {
	return slices.Contains([]string{"id", "status", "version", "nextFireTime", "lastFireTime", "createTime", "updateTime"},
		name)
}

func (n *naming) versions() *cobra.Command {
	var pages remote.Pages
	c := n.one("versions", "List the versions of a job, newest first",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			return remote.ListOf(n.Session, c, api, "/jobs/"+j.ID+"/versions", nil, pages,
				remote.Column[version]{Name: "version", Of: func(v version) string { return fmt.Sprint(v.Version) }},
				remote.Column[version]{Name: "made", Of: func(v version) string { return n.Moment(v.CreateTime) }},
				remote.Column[version]{Name: "by", Of: func(v version) string { return v.CreatedBy }},
				remote.Column[version]{Name: "changed", Of: version.fields},
			)
		})
	pages.Flags(c, 50)
	return c
}

func (n *naming) diff() *cobra.Command {
	var exitCode bool
	c := n.one("diff", "Show what differs between two versions of a job", nil)
	c.Use = "diff JOB [OLD [NEW]]"
	c.Long = `Show what differs between two versions of a job: by default between the present
one and the one before it, or between OLD and the present one. What files would
change is shown by job apply --dry-run.`
	c.Example = "  platform-scheduler job diff \"settle orders\"\n  platform-scheduler job diff \"settle orders\" 3 7 " +
		"--exit-code"
	c.Args = usage.Args(cobra.RangeArgs(1, 3))
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with code 1 if they differ")
	c.RunE = func(c *cobra.Command, args []string) error {
		return n.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			numbers, err := versionNumbers(args[1:], j)
			if err != nil {
				return err
			}
			d, err := compare(c, api, j, numbers[0], numbers[1])
			if err != nil {
				return err
			}
			if err := n.showComparison(d); err != nil {
				return err
			}
			if exitCode && len(d.Changes) > 0 {
				return usage.ErrDifferent
			}
			return nil
		})
	}
	return c
}

// versionNumbers are the two versions that arguments name.
func versionNumbers(args []string, j remote.Job) ([2]int, error) {
	numbers := [2]int{j.Version - 1, j.Version}
	for i, arg := range args {
		number, err := strconv.Atoi(arg)
		if err != nil || number < 1 {
			return numbers, usage.Errorf("%q is not the number of a version", arg)
		}
		numbers[i] = number
	}
	if numbers[0] < 1 {
		return numbers, errors.New("the job has but one version")
	}
	return numbers, nil
}

// comparison is what differs between two versions.
type comparison struct {
	From    int               `json:"from"`
	To      int               `json:"to"`
	Changes map[string][2]any `json:"changes"`
}

func (n *naming) showComparison(d comparison) error {
	if !n.ForPeople() {
		return n.Value(d)
	}
	if len(d.Changes) == 0 {
		return n.Line("versions %d and %d are the same", d.From, d.To)
	}
	if err := n.Line("version %d → %d", d.From, d.To); err != nil {
		return err
	}
	difference.Printer{Out: n.Out, Colour: terminal.Colourful(n.Out, n.Environment("NO_COLOR"))}.Changes(d.Changes)
	return nil
}

// compare reads two versions of a job, and what differs between them.
func compare(c *cobra.Command, api *client.Client, j remote.Job, from, to int) (comparison, error) {
	d := comparison{From: from, To: to, Changes: map[string][2]any{}}
	all, err := client.List[version](c.Context(), api, "/jobs/"+j.ID+"/versions", nil, 0)
	if err != nil {
		return d, err
	}
	fields := map[int]map[string]any{}
	for _, v := range all {
		if v.Version == from || v.Version == to {
			fields[v.Version] = map[string]any{}
			flatten("", v.Definition, fields[v.Version])
		}
	}
	for _, number := range []int{from, to} {
		if fields[number] == nil {
			return d, fmt.Errorf("the job has no version %d any more; platform-scheduler job versions lists those that "+
				"there are", number)
		}
	}
	for _, side := range fields {
		for name := range side {
			if before, after := fields[from][name], fields[to][name]; !reflect.DeepEqual(before, after) {
				d.Changes[name] = [2]any{before, after}
			}
		}
	}
	return d, nil
}

// flatten names the fields inside of objects by their path. Labels and data are
// values: their names are the user's.
func flatten(path string, from, into map[string]any) {
	for name, value := range from {
		inner, nested := value.(map[string]any)
		switch {
		case path == "" && notDefined(name):
		case nested && name != "labels" && name != "jobData":
			flatten(path+name+".", inner, into)
		default:
			into[path+name] = value
		}
	}
}

// saved is a job in the answer to who has saved it.
type saved struct {
	remote.Job
	Warnings []struct{ Field, Message string } `json:"warnings"`
}

// warn prints the warnings of the server about a job that it accepted.
func (n *naming) warn(made saved) {
	for _, w := range made.Warnings {
		n.Notef("warning: %s: %s", w.Field, w.Message)
	}
}

func (n *naming) rollback() *cobra.Command {
	var to int
	var q terminal.Question
	c := n.one("rollback", "Restore a former definition as a new version",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			numbers := [2]int{j.Version, to}
			if to == 0 {
				numbers[1] = j.Version - 1
			}
			if numbers[1] < 1 {
				return errors.New("the job has but one version")
			}
			d, err := compare(c, api, j, numbers[0], numbers[1])
			if err != nil {
				return err
			}
			if n.ForPeople() {
				if err := n.showComparison(d); err != nil {
					return err
				}
			}
			if err := q.Ask(n.Err, "Make version %d of %s the present one?", d.To, j.Title()); err != nil {
				return err
			}
			path := fmt.Sprintf("/jobs/%s/versions/%d/restore", j.ID, d.To)
			return remote.SendBy(n.Session, c, api, "POST", path, nil, map[string]int{"version": j.Version},
				func(made saved) error {
					n.warn(made)
					return n.Line("%s is at version %d, with the definition of version %d", made.Title(), made.Version, d.To)
				})
		})
	c.Example = "  platform-scheduler job rollback \"settle orders\"\n  platform-scheduler job rollback \"settle " +
		"orders\" --to 3 --yes"
	c.Flags().IntVar(&to, "to", 0, "the version; by default the one before the current one")
	q.Flag(c)
	return c
}
