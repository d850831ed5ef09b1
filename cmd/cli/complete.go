package cli

import (
	"net/url"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// completeMost is how many names are offered to a shell.
const completeMost = 200

// completeGroups offers the names of groups to the shell.
func (r *remote) completeGroups(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return r.complete(c, args, "/groups", nil)
}

// completeJobs offers the names of jobs that hold what was typed.
func (r *remote) completeJobs(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	query := url.Values{}
	if typed != "" {
		query.Set("name", typed)
	}
	return r.complete(c, args, "/jobs", query)
}

// complete offers the names of a list as the only argument of a command. A
// server that cannot be asked has none to offer.
func (r *remote) complete(c *cobra.Command, args []string, path string, query url.Values) ([]string, cobra.ShellCompDirective) {
	var names []string
	if api, err := r.client(); err == nil && len(args) == 0 {
		found, _ := client.List[struct{ Name string }](c.Context(), api, path, query, completeMost)
		for _, one := range found {
			names = append(names, one.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
