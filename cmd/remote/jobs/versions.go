package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/difference"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// notDefined are fields of a job that no definition sets.
func notDefined(name string) bool {
	return slices.Contains([]string{"id", "status", "version", "nextFireTime", "lastFireTime", "createTime", "updateTime"},
		name)
}

var versions = remote.Verb{
	Use: "versions", Short: "List the versions of a job, newest first",
	Path: "/jobs/{id}/versions", Paged: true, Limit: 50,
	Columns: "version, made=createTime|moment, by=createdBy, changed",
	// The names of what a version changed; nothing where that is not known.
	Words: remote.Words{"changed": func(_ *remote.Call, o remote.Object) string {
		return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(o.Inner("changes"))), notDefined), ", ")
	}},
}

var diff = remote.Verb{
	Use: "diff JOB [OLD [NEW]]", Short: "Show what differs between two versions of a job",
	Long: `Show what differs between two versions of a job: by default between the present
one and the one before it, or between OLD and the present one. What files would
change is shown by job apply --dry-run.`,
	Example: "job diff \"settle orders\"\njob diff \"settle orders\" 3 7 --exit-code",
	Own:     []remote.Flag{{Name: "exit-code", Default: false, Help: "exit with code 1 if they differ"}},
	Run: func(k *remote.Call) error {
		numbers, err := versionNumbers(k.Args[1:], k.Job)
		if err != nil {
			return err
		}
		d, err := compare(k, numbers[0], numbers[1])
		if err == nil {
			d.show(k)
		}
		if err == nil && k.On("exit-code") && len(d.Changes) > 0 {
			err = usage.ErrDifferent
		}
		return err
	},
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

func (d comparison) show(k *remote.Call) {
	switch {
	case !k.ForPeople():
		k.Value(d)
	case len(d.Changes) == 0:
		k.Line("versions %d and %d are the same", d.From, d.To)
	default:
		k.Line("version %d → %d", d.From, d.To)
		colour := terminal.Colourful(k.Out, k.Environment("NO_COLOR"))
		difference.Printer{Out: k.Out, Colour: colour}.Changes(d.Changes)
	}
}

// compare reads two versions of a job, and what differs between them.
func compare(k *remote.Call, from, to int) (comparison, error) {
	d := comparison{From: from, To: to, Changes: map[string][2]any{}}
	type version struct {
		Version    int
		Definition map[string]any
	}
	all, err := client.List[version](k.Cmd.Context(), k.API, k.Path("/jobs/{id}/versions"), nil, 0)
	if err != nil {
		return d, err
	}
	fields := map[int]map[string]any{}
	for _, v := range all {
		if v.Version == from || v.Version == to {
			fields[v.Version] = map[string]any{}
			maps.DeleteFunc(v.Definition, func(name string, _ any) bool { return notDefined(name) })
			vo.Flatten("", v.Definition, fields[v.Version])
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

var rollback = remote.Verb{
	Use: "rollback", Short: "Restore a former definition as a new version",
	Example: "job rollback \"settle orders\"\njob rollback \"settle orders\" --to 3 --yes", Asks: true,
	Own: []remote.Flag{{Name: "to", Default: 0, Help: "the version; by default the one before the current one"}},
	Run: func(k *remote.Call) error {
		to := cmp.Or(k.Number("to"), k.Job.Version-1)
		if to < 1 {
			return errors.New("the job has but one version")
		}
		d, err := compare(k, k.Job.Version, to)
		if err != nil {
			return err
		}
		if k.ForPeople() {
			d.show(k)
		}
		if err := k.Ask("Make version %d of %s the present one?", to, k.Title); err != nil {
			return err
		}
		o, err := k.Do("POST", fmt.Sprintf("/jobs/{id}/versions/%d/restore", to),
			map[string]int{"version": k.Job.Version})
		if err == nil {
			k.Finish("{group}/{name} is at version {version}, with the definition of version "+fmt.Sprint(to), o)
		}
		return err
	},
}
