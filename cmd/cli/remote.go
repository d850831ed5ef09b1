package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// remote is what the commands share that speak to a server.
type remote struct {
	*session
	server  string
	output  string
	context string
}

// The variables that stand in for a context.
const (
	serverVariable = "PLATFORM_SCHEDULER_SERVER"
	tokenVariable  = "PLATFORM_SCHEDULER_TOKEN"
)

// defaultServer is where a standalone server listens.
const defaultServer = "http://127.0.0.1:8080"

// remoteCommands are those that speak to a server.
func (s *session) remoteCommands() []*cobra.Command {
	r := &remote{session: s}
	commands := append([]*cobra.Command{r.jobCommand(), r.groupCommand(), r.executionCommand(), r.userCommand(), r.tokenCommand()}, r.contextCommands()...)
	commands = append(commands, r.backupCommands()...)
	for _, c := range commands {
		c.PersistentFlags().StringVar(&r.server, "server", "", "address of the server, such as "+defaultServer)
		c.PersistentFlags().StringVar(&r.context, "context", "", "context to use instead of the current one")
		c.PersistentFlags().StringVar(&r.output, "output", "table", "`table` or json")
		// It fails only for flags that are not there.
		_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	}
	return commands
}

// contextsFile is where the contexts of this person are kept.
func (r *remote) contextsFile() (string, error) {
	folder := r.environment("XDG_CONFIG_HOME")
	if folder == "" {
		home := r.environment("HOME")
		if home == "" {
			return "", errors.New("neither HOME nor XDG_CONFIG_HOME says where contexts are kept")
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "platform-scheduler", "contexts.yaml"), nil
}

func (r *remote) contexts() (*client.Contexts, error) {
	file, err := r.contextsFile()
	if err != nil {
		return nil, err
	}
	return client.OpenContexts(file)
}

// client speaks to the server that flags, environment or context name.
func (r *remote) client() (*client.Client, error) {
	if r.output != "table" && r.output != "json" {
		return nil, fmt.Errorf("%w: --output is table or json", errUsage)
	}
	c := &client.Client{Server: r.environment(serverVariable), Token: r.environment(tokenVariable)}
	if c.Token == "" || r.context != "" {
		contexts, err := r.contexts()
		if err != nil {
			return nil, err
		}
		name := contexts.Current
		if r.context != "" {
			name = r.context
		}
		known, ok := contexts.Contexts[name]
		switch {
		case ok:
			c.Server, c.Token = known.Server, known.Token
		case r.context != "":
			return nil, fmt.Errorf("there is no context %q; see platform-scheduler context list", r.context)
		default:
			return nil, errors.New("not signed in: run platform-scheduler login, or set " + serverVariable + " and " + tokenVariable)
		}
	}
	if r.server != "" && r.server != c.Server {
		if r.environment(tokenVariable) == "" {
			return nil, fmt.Errorf("the token of the context is for %s; run platform-scheduler login --server %s first", c.Server, r.server)
		}
		c.Server = r.server
	}
	if c.Server == "" {
		c.Server = defaultServer
	}
	return c, nil
}

// show prints items as JSON, or as a table of what columns makes of each.
func show[T any](r *remote, items []T, header string, columns func(T) []any, format string) error {
	if r.output == "json" {
		return json.NewEncoder(r.out).Encode(items)
	}
	w := tabwriter.NewWriter(r.out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, header)
	for _, item := range items {
		_, _ = fmt.Fprintf(w, format+"\n", columns(item)...)
	}
	return w.Flush()
}

// print prints an object as JSON, for people indented.
func (r *remote) print(raw json.RawMessage) error {
	if r.output == "json" {
		_, err := fmt.Fprintln(r.out, string(raw))
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(r.out, string(text))
	return err
}

// job is what the commands need of a job.
type job struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Group        string  `json:"group"`
	JobType      string  `json:"jobType"`
	Status       string  `json:"status"`
	NextFireTime *string `json:"nextFireTime"`
	Version      int     `json:"version"`
}

var looksLikeID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// findJob finds a job by its id or its name.
func (r *remote) findJob(c *cobra.Command, api *client.Client, name, group string) (job, error) {
	if looksLikeID.MatchString(name) {
		var j job
		return j, api.Call(c.Context(), "GET", "/jobs/"+name, nil, nil, &j)
	}
	query := url.Values{"name": {name}}
	if group != "" {
		query.Set("group", group)
	}
	all, err := client.List[job](c.Context(), api, "/jobs", query, 0)
	if err != nil {
		return job{}, err
	}
	var found []job
	for _, j := range all {
		if j.Name == name {
			found = append(found, j)
		}
	}
	switch len(found) {
	case 0:
		return job{}, fmt.Errorf("there is no job named %q", name)
	case 1:
		return found[0], nil
	}
	return job{}, fmt.Errorf("several groups have a job named %q; say which with --group", name)
}

// deref is a text that may be absent.
func deref(s *string) string {
	if s == nil {
		return "–"
	}
	return *s
}

// readSecretFile reads a password from a file, without the line's end.
func readSecretFile(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for len(data) > 0 && (data[len(data)-1] == '\n' || data[len(data)-1] == '\r') {
		data = data[:len(data)-1]
	}
	return string(data), nil
}
