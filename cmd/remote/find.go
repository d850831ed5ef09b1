package remote

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// Job is what commands need of a job.
type Job struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Group    string `json:"group"`
	Version  int    `json:"version"`
	Schedule struct {
		TimeZone string `json:"timeZone"`
	} `json:"schedule"`
}

// Title names a job for people.
func (j Job) Title() string { return j.Group + "/" + j.Name }

var looksLikeID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsID reports whether a string is an id, and no name.
func IsID(text string) bool { return looksLikeID.MatchString(text) }

// FindJob finds a job by its id, its name, or group/name; group is that of --group, or empty.
func (k *Call) FindJob(name, group string) (j Job, err error) {
	if IsID(name) {
		err = k.API.Call(k.Cmd.Context(), "GET", "/jobs/"+name, nil, nil, &j)
		return j, err
	}
	found, err := k.jobsNamed(name, group)
	if before, after, ok := strings.Cut(name, "/"); err == nil && len(found) == 0 && ok && group == "" {
		found, err = k.jobsNamed(after, before)
	}
	switch {
	case err != nil:
		return Job{}, err
	case len(found) == 0:
		return Job{}, fmt.Errorf("there is no job named %q; platform-scheduler job list shows those that you may see", name)
	case len(found) > 1:
		return Job{}, fmt.Errorf("several groups have a job named %q; say which with --group", name)
	}
	return found[0], nil
}

// jobsNamed are the jobs of that name; the server looks for parts of names.
func (k *Call) jobsNamed(name, group string) ([]Job, error) {
	query := Query(map[string]any{"name": name, "group": group})
	found, err := client.List[Job](k.Cmd.Context(), k.API, "/jobs", query, 0)
	return slices.DeleteFunc(found, func(j Job) bool { return j.Name != name }), err
}

// ChooseJob finds the job that a call is about.
func (k *Call) ChooseJob(name, group string) (err error) {
	k.Job, err = k.FindJob(name, group)
	k.ID, k.Title, k.ZoneName = k.Job.ID, k.Job.Title(), k.Job.Schedule.TimeZone
	return err
}

// The lists that complete arguments, as much of them as a page holds. The typed text is in the place of
// {typed}.
const (
	Groups  = "/groups?limit=200"
	Jobs    = "/jobs?limit=200&name={typed}"
	Secrets = "/secrets?limit=200"
	Nodes   = "/nodes"

	Workers      = "/workers?limit=200"
	WorkerGroups = "/worker-groups"
)

// Names offers the names in a list to a shell, or the ids of what has no name, for the first argument or
// for each. A server that cannot be asked has none to offer.
func (s *Session) Names(list string, each bool) Completion {
	return func(c *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
		if api, err := s.Client(); err == nil && (each || len(args) == 0) {
			var page struct{ Items []struct{ Name, ID string } }
			path := strings.TrimSuffix(strings.ReplaceAll(list, "{typed}", url.QueryEscape(typed)), "&name=")
			_ = api.Call(c.Context(), "GET", path, nil, nil, &page)
			for _, one := range page.Items {
				names = append(names, cmp.Or(one.Name, one.ID))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
