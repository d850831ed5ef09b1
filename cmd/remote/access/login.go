// Package access holds the commands about who may do what: signing in,
// contexts, users, API tokens, secrets and the audit log.
package access

import (
	"cmp"
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
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/target"
)

// loginLife is how long the token of a context is good for.
const loginLife = 90 * 24 * time.Hour

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return append(s.Commands(loginVerb, logoutVerb, remote.Verb{
		Use: "whoami", Short: "Show which user is signed in, and with which rights", Example: "whoami",
		Path: "/auth/me", Fields: described, Words: words,
	}, password), contextCommand(s), s.Parent(users, userVerbs...), asOneself(s, sessions, sessionVerbs...),
		asOneself(s, tokens, tokenVerbs...), secretCommand(s), auditCommand(s))
}

var loginVerb = remote.Verb{
	Use: "login", Short: "Sign in to a server, and keep an API token for it", Local: true, Run: login,
	Long: `Sign in with name and password, make an API token for 90 days and keep it as a
context in the user's configuration folder. The password is not kept.

The server is the one that --server names, such as scheduler.example.com, or
that of the context. Without a scheme it is http on this machine and https
elsewhere. What --ca-file names is kept in the context.`,
	Example: "login --server 127.0.0.1:8080 --username admin\nlogin --password-file data/initial-admin-password\n" +
		"login --server scheduler.example.com --ca-file ca.pem --context production",
	Own: []remote.Flag{
		{Name: "username", Help: "who signs in; by default the user of the context, or admin"},
		{Name: "password-file", Help: "read the password from `FILE` instead of asking"},
	},
}

// contextView is a context without its token, in the form of the API's answers.
type contextView struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	User    string `json:"user"`
	Current bool   `json:"current"`
}

func login(k *remote.Call) error {
	contexts, err := k.Contexts()
	if err != nil {
		return err
	}
	t, err := k.NewTarget(k.Given("username"))
	if err != nil {
		return err
	}
	end, err := signIn(k, t, "password-file")
	if err != nil {
		return err
	}
	defer end()
	name := cmp.Or(k.Context(), t.Server)
	made := client.Context{Server: t.Server, User: t.Username, CAFile: t.CAFile}
	if err := giveToken(k, contexts, name, made, name); err != nil {
		return err
	}
	k.Either(contextView{name, t.Server, t.Username, true}, "signed in to %s as %s", t.Server, t.Username)
	return nil
}

// giveToken makes the API token of a context, and keeps it.
func giveToken(k *remote.Call, contexts *client.Contexts, name string, of client.Context, current string) error {
	host, _ := os.Hostname()
	label := []rune("command line on " + host)
	made, err := k.Do("POST", "/tokens", map[string]any{
		"name": string(label[:min(len(label), maxLabel)]), "expiresAt": expiry(k, loginLife),
	})
	if err != nil {
		return err
	}
	of.Token, of.TokenID = made.Text("token"), made.Text("id")
	contexts.Contexts[name], contexts.Current = of, current
	return contexts.Save()
}

// maxLabel is the length of the name of a token.
const maxLabel = 100

// signIn opens a session with the password of the file that a flag names. A token cannot replace it where
// tokens are made. end closes it.
func signIn(k *remote.Call, t target.Target, flag string) (end func(), err error) {
	password, err := k.Password(flag, "password of "+t.Username+" at "+t.Server)
	if err != nil {
		return nil, err
	}
	return signInWith(k, t, password)
}

func signInWith(k *remote.Call, t target.Target, password string) (end func(), err error) {
	api, err := k.Connect(t, "")
	if err != nil {
		return nil, err
	}
	var session struct{ Token string }
	if err := api.Call(k.Cmd.Context(), "POST", "/auth/login", nil,
		map[string]string{"username": t.Username, "password": password}, &session); err != nil {
		return nil, err
	}
	api.Token = session.Token
	k.API = api
	return func() { _ = api.Call(k.Cmd.Context(), "POST", "/auth/logout", nil, nil, nil) }, nil
}

var logoutVerb = remote.Verb{
	Use: "logout", Short: "Revoke the token of the current context and forget it", Example: "logout",
	Local: true, Run: logout,
}

func logout(k *remote.Call) error {
	contexts, err := k.Contexts()
	if err != nil {
		return err
	}
	name := cmp.Or(k.Context(), contexts.Current)
	known, ok := contexts.Contexts[name]
	if !ok {
		return errors.New("not signed in")
	}
	api, err := k.Connect(target.Target{Server: known.Server, CAFile: known.CAFile}, known.Token)
	if err != nil {
		return err
	}
	if err := api.Call(k.Cmd.Context(), "POST", "/auth/logout", nil, nil, nil); err != nil && !client.IsStatus(err, 401) {
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
	k.Either(contextView{Name: name, Server: known.Server, User: known.User}, "signed out of %s", known.Server)
	return nil
}

func contextCommand(s *remote.Session) *cobra.Command {
	return s.Parent(remote.Verb{
		Use: "context", Short: "List the servers that you are signed in to, or choose one",
		Example: "context list\ncontext use production", Local: true,
	}, remote.Verb{
		Use: "list", Short: "List the contexts", Example: "context list", Run: listContexts,
	}, remote.Verb{
		Use: "use NAME", Short: "Make a context the current one", Example: "context use production",
		Run: useContext,
		Complete: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			contexts, err := s.Contexts()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return slices.Sorted(maps.Keys(contexts.Contexts)), cobra.ShellCompDirectiveNoFileComp
		},
	})
}

func listContexts(k *remote.Call) error {
	contexts, err := k.Contexts()
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
	if k.ForPeople() {
		k.Rows([]string{"  NAME", "SERVER", "USER"}, rows)
	} else {
		output.Items(&k.Printer, views)
	}
	return nil
}

func useContext(k *remote.Call) error {
	contexts, err := k.Contexts()
	if err != nil {
		return err
	}
	name := k.Args[0]
	known, ok := contexts.Contexts[name]
	if !ok {
		return fmt.Errorf("there is no context %q; see platform-scheduler context list", name)
	}
	contexts.Current = name
	if err := contexts.Save(); err != nil {
		return err
	}
	k.Either(contextView{name, known.Server, known.User, true},
		"the current context is %s (%s)", name, known.Server)
	return nil
}

var password = remote.Verb{
	Use: "password", Short: "Change your password", Local: true, Run: changePassword,
	Long: `Change your password at the server of the context. It ends every session.
The token of the context is replaced where the change has revoked it.`,
	Example: "password\npassword --password-file old --new-password-file new",
	Own: append(slices.Clone(signsIn),
		remote.Flag{Name: "new-password-file", Help: "read the new password from `FILE` instead of asking"}),
}

func changePassword(k *remote.Call) error {
	t, err := k.Target(k.Given("username"))
	if err != nil {
		return err
	}
	before, err := k.Password("password-file", "password of "+t.Username+" at "+t.Server)
	if err != nil {
		return err
	}
	end, err := signInWith(k, t, before)
	if err != nil {
		return err
	}
	defer end()
	after, err := ownPassword(k)
	if err != nil {
		return err
	}
	if err := k.API.Call(k.Cmd.Context(), "POST", "/auth/password", nil,
		map[string]string{"oldPassword": before, "newPassword": after}, nil); err != nil {
		return err
	}
	k.Line("the password of %s at %s is changed", t.Username, t.Server)
	if err := renew(k, t, after); err != nil {
		return fmt.Errorf("the context could not be signed in again; run platform-scheduler login: %w", err)
	}
	return nil
}

// ownPassword asks twice, so that a slip of the hand locks nobody out.
func ownPassword(k *remote.Call) (string, error) {
	const flag = "new-password-file"
	first, err := k.Password(flag, "new password")
	if err != nil || k.Given(flag) != "" {
		return first, err
	}
	second, err := k.Password(flag, "new password, again")
	if err == nil && first != second {
		err = errors.New("the two are not the same; nothing was changed")
	}
	return first, err
}

// renew gives the context of a user another token where the old one is not good any more.
func renew(k *remote.Call, t target.Target, password string) error {
	contexts, err := k.Contexts()
	if err != nil {
		return err
	}
	name := cmp.Or(k.Context(), contexts.Current)
	known, ok := contexts.Contexts[name]
	server, err := client.Address(known.Server)
	if !ok || err != nil || server != t.Server || known.User != t.Username {
		return nil // it is somebody else's
	}
	old, err := k.Connect(t, known.Token)
	if err != nil {
		return err
	}
	if err := old.Call(k.Cmd.Context(), "GET", "/auth/me", nil, nil, nil); !client.IsStatus(err, 401) {
		return err
	}
	end, err := signInWith(k, t, password)
	if err != nil {
		return err
	}
	defer end()
	return giveToken(k, contexts, name, known, contexts.Current)
}
