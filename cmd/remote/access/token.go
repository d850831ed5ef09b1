package access

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// expiry is the end of a life that begins now.
func expiry(k *remote.Call, life time.Duration) string { return remote.Sent(k.Clock.Now().Add(life)) }

// asOneself makes commands that want the password of who calls them, and do their work with a session.
func asOneself(s *remote.Session, of remote.Verb, verbs ...remote.Verb) *cobra.Command {
	verbs = slices.Clone(verbs)
	for i := range verbs {
		verbs[i].Connect = signedIn("password-file")
	}
	c := s.Parent(of, verbs...)
	for _, f := range signsIn {
		f.Add(c.PersistentFlags())
	}
	return c
}

// signsIn are the flags of commands that want the password of who calls them.
var signsIn = []remote.Flag{
	{Name: "username", Help: "the owner of the tokens; by default the user of the context, or admin"},
	{Name: "password-file", Help: "read the password from `FILE` instead of asking"},
}

// signedIn signs in for a command, with the password of the file that a flag names.
func signedIn(flag string) func(k *remote.Call) (end func(), err error) {
	return func(k *remote.Call) (end func(), err error) {
		if err := k.Check(); err != nil {
			return nil, err
		}
		t, err := k.Target(k.Given("username"))
		if err != nil {
			return nil, err
		}
		return signIn(k, t, flag)
	}
}

var tokens = remote.Verb{
	Use: "token", Short: "Manage your API tokens", Example: "token create CI --scope job:read --days 30",
	Words: words,
	Long: `Manage your API tokens. A token cannot make or revoke tokens, so that these
commands ask for the password. It is sent to the server of the context alone.`,
}

var tokenVerbs = []remote.Verb{
	{
		Use: "create NAME", Short: "Create a token and print it once",
		Example: "token create CI --scope job:read --days 30",
		Flags: []remote.Flag{
			{
				Name: "scope", As: "scopes", Default: remote.Commas{},
				Help: "limit it to a permission, such as job:read; may be repeated",
			},
			{
				Name: "days", Default: 90, Help: "how many days it is valid, at most 366",
				As: "expiresAt", To: func(k *remote.Call, _ remote.Input) (any, error) {
					return expiry(k, time.Duration(k.Number("days"))*24*time.Hour), nil
				},
			},
		},
		Method: "POST", Path: "/tokens", Arg: "name", Done: "{token}",
	},
	{
		Use: "list", Short: "List the tokens", Example: "token list -o json", Path: "/tokens", Paged: true,
		Columns: "id, name, owner=userName, scopes, expires=expiresAt|moment, last used=lastUsedAt|moment",
	},
	{
		Use: "revoke ID", Short: "Revoke a token", Example: "token revoke 0193…",
		Method: "DELETE", Path: "/tokens/{0}", Done: "revoked {0}",
	},
}

var sessions = remote.Verb{
	Use: "session", Short: "See and end your sign-ins", Example: "session list",
	Long: "See and end your sign-ins. A token cannot do so: these commands ask for the password,\nand sign in with it.",
}

var sessionVerbs = []remote.Verb{
	{
		Use: "list", Short: "List your sessions, latest first", Example: "session list",
		Path:  "/auth/sessions",
		Words: remote.Words{"mark": remote.If("current", ", this one", "")},
		Each:  "since {createTime|moment}, ends {expiresAt|moment}{mark}",
	},
	{
		Use: "end-others", Short: "End all your other sessions", Example: "session end-others",
		Method: "DELETE", Path: "/auth/sessions", Done: "ended your other sessions",
	},
}
