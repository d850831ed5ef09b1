// Package access holds the commands about who may do what: signing in,
// contexts, users, API tokens, secrets and the audit log.
package access

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// loginLife is how long the token of a context is good for.
const loginLife = 90 * 24 * time.Hour

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return []*cobra.Command{
		loginCommand(s), logoutCommand(s), contextCommand(s), whoamiCommand(s), passwordCommand(s),
		userCommand(s), sessionCommand(s), tokenCommand(s), secretCommand(s), auditCommand(s),
	}
}

func loginCommand(s *remote.Session) *cobra.Command {
	var username, passwordFile string
	c := &cobra.Command{
		Use:   "login",
		Short: "Sign in to a server, and keep an API token for it",
		Long: `Sign in with name and password, make an API token for 90 days and keep it as a
context in the user's configuration folder. The password is not kept.

The server is the one that --server names, such as scheduler.example.com, or
that of the context. Without a scheme it is http on this machine and https
elsewhere. What --ca-file names is kept in the context.`,
		Example: "  platform-scheduler login --server 127.0.0.1:8080 --username admin\n  platform-scheduler login " +
			"--password-file data/initial-admin-password\n  platform-scheduler login --server scheduler.example.com --ca-file " +
			"ca.pem --context production",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return login(s, c, username, passwordFile) },
	}
	c.Flags().StringVar(&username, "username", "", "who signs in; by default the user of the context, or admin")
	c.Flags().StringVar(&passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
	return c
}

// contextView is a context without its token, in the form of the API's answers.
type contextView struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	User    string `json:"user"`
	Current bool   `json:"current"`
}

func login(s *remote.Session, c *cobra.Command, username, passwordFile string) error {
	if err := s.Check(); err != nil {
		return err
	}
	contexts, err := s.Contexts()
	if err != nil {
		return err
	}
	t, err := s.NewTarget(username)
	if err != nil {
		return err
	}
	api, end, err := signIn(s, c, t, passwordFile)
	if err != nil {
		return err
	}
	defer end()
	made, err := contextToken(s, c, api)
	if err != nil {
		return err
	}
	name := s.Context()
	if name == "" {
		name = t.Server
	}
	contexts.Contexts[name] = client.Context{
		Server: t.Server, Token: made.Token, TokenID: made.ID, User: t.Username,
		CAFile: t.CAFile,
	}
	contexts.Current = name
	if err := contexts.Save(); err != nil {
		return err
	}
	if !s.ForPeople() {
		return s.Value(contextView{name, t.Server, t.Username, true})
	}
	return s.Line("signed in to %s as %s", t.Server, t.Username)
}

// contextToken makes the API token of a context.
func contextToken(s *remote.Session, c *cobra.Command, api *client.Client) (token, error) {
	host, _ := os.Hostname()
	return makeToken(s, c, api, cutText("command line on "+host, 100), nil, loginLife)
}

// signIn opens a session with a password, which a token cannot replace where
// tokens are made. end closes it.
func signIn(s *remote.Session, c *cobra.Command, t remote.Target,
	passwordFile string,
) (api *client.Client, end func(), err error) {
	password, err := s.Password(passwordFile, t.Username+" at "+t.Server)
	if err != nil {
		return nil, nil, err
	}
	return signInWith(s, c, t, password)
}

func signInWith(s *remote.Session, c *cobra.Command, t remote.Target,
	password string,
) (api *client.Client, end func(), err error) {
	if api, err = s.Connect(t, ""); err != nil {
		return nil, nil, err
	}
	var session struct{ Token string }
	if err := api.Call(c.Context(), "POST", "/auth/login", nil,
		map[string]string{"username": t.Username, "password": password}, &session); err != nil {
		return nil, nil, err
	}
	api.Token = session.Token
	return api, func() { _ = api.Call(c.Context(), "POST", "/auth/logout", nil, nil, nil) }, nil
}

func cutText(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

func logoutCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Revoke the token of the current context and forget it", Example: "  platform-scheduler logout",
		Args: usage.Args(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return logout(s, c) },
	}
}

func logout(s *remote.Session, c *cobra.Command) error {
	if err := s.Check(); err != nil {
		return err
	}
	contexts, err := s.Contexts()
	if err != nil {
		return err
	}
	name := contexts.Current
	if s.Context() != "" {
		name = s.Context()
	}
	known, ok := contexts.Contexts[name]
	if !ok {
		return errors.New("not signed in")
	}
	api, err := s.Connect(remote.Target{Server: known.Server, CAFile: known.CAFile}, known.Token)
	if err != nil {
		return err
	}
	if err := api.Call(c.Context(), "POST", "/auth/logout", nil, nil, nil); err != nil && !client.IsStatus(err, 401) {
		return fmt.Errorf("the token was not revoked: %w", err)
	}
	delete(contexts.Contexts, name)
	if contexts.Current == name {
		contexts.Current = ""
		for other := range contexts.Contexts {
			contexts.Current = max(contexts.Current, other)
		}
	}
	if err := contexts.Save(); err != nil {
		return err
	}
	if !s.ForPeople() {
		return s.Value(contextView{Name: name, Server: known.Server, User: known.User})
	}
	return s.Line("signed out of %s", known.Server)
}

func whoamiCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show which user is signed in, and with which rights", Example: "  platform-scheduler whoami",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Get(s, c, "/auth/me", nil, func(u user) error { return u.show(s) })
		},
	}
}

func contextCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "context", Short: "List the servers that you are signed in to, or choose one",
		Example: "  platform-scheduler context list\n  platform-scheduler context use production",
	})
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contexts", Example: "  platform-scheduler context list",
			Args: usage.Args(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error { return listContexts(s) },
		},
		&cobra.Command{
			Use: "use NAME", Short: "Make a context the current one", Example: "  platform-scheduler context use production",
			Args: usage.Args(cobra.ExactArgs(1)),
			ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				contexts, err := s.Contexts()
				if err != nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return slices.Sorted(maps.Keys(contexts.Contexts)), cobra.ShellCompDirectiveNoFileComp
			},
			RunE: func(_ *cobra.Command, args []string) error { return useContext(s, args[0]) },
		},
	)
	return c
}

func listContexts(s *remote.Session) error {
	if err := s.Check(); err != nil {
		return err
	}
	contexts, err := s.Contexts()
	if err != nil {
		return err
	}
	var views []contextView
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(contexts.Contexts)) {
		known, mark := contexts.Contexts[name], " "
		if name == contexts.Current {
			mark = "*"
		}
		views = append(views, contextView{name, known.Server, known.User, name == contexts.Current})
		rows = append(rows, []string{mark + " " + name, known.Server, known.User})
	}
	if !s.ForPeople() {
		return output.Items(&s.Printer, views)
	}
	return s.Rows([]string{"  NAME", "SERVER", "USER"}, rows)
}

func useContext(s *remote.Session, name string) error {
	if err := s.Check(); err != nil {
		return err
	}
	contexts, err := s.Contexts()
	if err != nil {
		return err
	}
	known, ok := contexts.Contexts[name]
	if !ok {
		return fmt.Errorf("there is no context %q; see platform-scheduler context list", name)
	}
	contexts.Current = name
	if err := contexts.Save(); err != nil {
		return err
	}
	if !s.ForPeople() {
		return s.Value(contextView{name, known.Server, known.User, true})
	}
	return s.Line("the current context is %s (%s)", name, known.Server)
}
