package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// loginLife is how long the token of a context is good for.
const loginLife = 90 * 24 * time.Hour

func (r *remote) contextCommands() []*cobra.Command {
	var username, passwordFile string
	login := &cobra.Command{
		Use:     "login",
		Short:   "Sign in to a server, and keep an API token for it",
		Long:    "Sign in with name and password, make an API token for 90 days and keep it as a\ncontext in the user's configuration folder. The password is not kept.",
		Example: "  platform-scheduler login --server http://127.0.0.1:8080 --username admin\n  platform-scheduler login --password-file data/initial-admin-password",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return r.login(c, username, passwordFile) },
	}
	login.Flags().StringVar(&username, "username", "admin", "who signs in")
	login.Flags().StringVar(&passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
	logout := &cobra.Command{
		Use: "logout", Short: "Revoke the token of the current context and forget it", Example: "  platform-scheduler logout",
		Args: usageArgs(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return r.logout(c) },
	}
	contexts := &cobra.Command{
		Use: "context", Short: "List the servers one is signed in to, or choose one", Example: "  platform-scheduler context list\n  platform-scheduler context use production",
		Args: usageArgs(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	contexts.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the contexts", Example: "  platform-scheduler context list", Args: usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error { return r.listContexts() },
		},
		&cobra.Command{
			Use: "use NAME", Short: "Make a context the current one", Example: "  platform-scheduler context use production", Args: usageArgs(cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error { return r.useContext(args[0]) },
		},
	)
	return []*cobra.Command{login, logout, contexts}
}

func (r *remote) login(c *cobra.Command, username, passwordFile string) error {
	contexts, err := r.contexts()
	if err != nil {
		return err
	}
	api, end, err := r.signIn(c, username, passwordFile)
	if err != nil {
		return err
	}
	defer end()
	host, _ := os.Hostname()
	made, err := makeToken(c, api, cutText("command line on "+host, 100), nil, loginLife)
	if err != nil {
		return err
	}
	name := r.context
	if name == "" {
		name = api.Server
	}
	contexts.Contexts[name] = client.Context{Server: api.Server, Token: made.Token, TokenID: made.ID, User: username}
	contexts.Current = name
	if err := contexts.Save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "signed in to %s as %s\n", api.Server, username)
	return err
}

// signIn opens a session with a password, which a token cannot replace where
// tokens are made. end closes it.
func (r *remote) signIn(c *cobra.Command, username, passwordFile string) (api *client.Client, end func(), err error) {
	server := r.server
	if server == "" {
		server = r.environment(serverVariable)
	}
	if server == "" {
		server = defaultServer
	}
	password, err := r.password(passwordFile, username+" at "+server)
	if err != nil {
		return nil, nil, err
	}
	api = &client.Client{Server: server}
	var session struct{ Token string }
	if err := api.Call(c.Context(), "POST", "/auth/login", nil, map[string]string{"username": username, "password": password}, &session); err != nil {
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

// password reads a password from a file, or asks for it without showing it.
func (r *remote) password(file, who string) (string, error) {
	if file != "" {
		return readSecretFile(file)
	}
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		return "", errors.New("there is no terminal to ask for the password; use --password-file")
	}
	_, _ = fmt.Fprintf(r.err, "password of %s: ", who)
	data, err := term.ReadPassword(in)
	_, _ = fmt.Fprintln(r.err)
	return string(data), err
}

func (r *remote) logout(c *cobra.Command) error {
	contexts, err := r.contexts()
	if err != nil {
		return err
	}
	name := contexts.Current
	if r.context != "" {
		name = r.context
	}
	known, ok := contexts.Contexts[name]
	if !ok {
		return errors.New("not signed in")
	}
	api := &client.Client{Server: known.Server, Token: known.Token}
	if err := api.Call(c.Context(), "POST", "/auth/logout", nil, nil, nil); err != nil && !client.IsStatus(err, 401) {
		return fmt.Errorf("the token was not revoked: %w", err)
	}
	delete(contexts.Contexts, name)
	contexts.Current = ""
	for other := range contexts.Contexts {
		contexts.Current = max(contexts.Current, other)
	}
	_, _ = fmt.Fprintf(r.out, "signed out of %s\n", known.Server)
	return contexts.Save()
}

func (r *remote) listContexts() error {
	contexts, err := r.contexts()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(r.out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\tNAME\tSERVER\tUSER")
	for _, name := range slices.Sorted(maps.Keys(contexts.Contexts)) {
		mark := ""
		if name == contexts.Current {
			mark = "*"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", mark, name, contexts.Contexts[name].Server, contexts.Contexts[name].User)
	}
	return w.Flush()
}

func (r *remote) useContext(name string) error {
	contexts, err := r.contexts()
	if err != nil {
		return err
	}
	if _, ok := contexts.Contexts[name]; !ok {
		return fmt.Errorf("there is no context %q; see platform-scheduler context list", name)
	}
	contexts.Current = name
	return contexts.Save()
}
