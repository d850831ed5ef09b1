package remote

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// Job is what commands need of a job; Raw is all of it, as it was answered.
type Job struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Group    string `json:"group"`
	Version  int    `json:"version"`
	Schedule struct {
		TimeZone string `json:"timeZone"`
	} `json:"schedule"`
	Raw json.RawMessage `json:"-"`
}

// Title names a job for people.
func (j Job) Title() string { return j.Group + "/" + j.Name }

var looksLikeID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsID reports whether a string is an id, and no name.
func IsID(text string) bool { return looksLikeID.MatchString(text) }

// FindJob finds a job by its id, its name, or group/name; group is that of
// --group, or empty.
func (s *Session) FindJob(c *cobra.Command, api *client.Client, name, group string) (Job, error) {
	if IsID(name) {
		var raw json.RawMessage
		if err := api.Call(c.Context(), "GET", "/jobs/"+name, nil, nil, &raw); err != nil {
			return Job{}, err
		}
		return read(raw)
	}
	found, err := s.jobsNamed(c, api, name, group)
	if before, after, ok := strings.Cut(name, "/"); err == nil && len(found) == 0 && ok && group == "" {
		found, err = s.jobsNamed(c, api, after, before)
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

func (s *Session) jobsNamed(c *cobra.Command, api *client.Client, name, group string) (found []Job, err error) {
	_, items, err := api.Pages(c.Context(), "/jobs", Query("name", name, "group", group), 0)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		j, err := read(item)
		if err != nil {
			return nil, err
		}
		if j.Name == name { // the server looks for parts of names
			found = append(found, j)
		}
	}
	return found, nil
}

func read(raw json.RawMessage) (Job, error) {
	j := Job{Raw: raw}
	if err := json.Unmarshal(raw, &j); err != nil {
		return Job{}, fmt.Errorf("a job is not understood: %w", err)
	}
	return j, nil
}

// completeMost is how many names are offered to a shell.
const completeMost = 200

// CompleteGroups offers the names of groups to the shell.
func (s *Session) CompleteGroups(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.complete(c, args, "/groups", "")
}

// CompleteJobs offers the names of jobs that hold what was typed.
func (s *Session) CompleteJobs(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return s.complete(c, args, "/jobs", typed)
}

// CompleteSecrets offers the names of secrets to the shell.
func (s *Session) CompleteSecrets(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.complete(c, args, "/secrets", "")
}

// complete offers the names of a list as the only argument of a command. A
// server that cannot be asked has none to offer.
func (s *Session) complete(c *cobra.Command, args []string, path, typed string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if api, err := s.Client(); err == nil && len(args) == 0 {
		found, _ := client.List[struct{ Name string }](c.Context(), api, path, Query("name", typed), completeMost)
		for _, one := range found {
			names = append(names, one.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
