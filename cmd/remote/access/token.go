package access

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// token is what the commands show of an API token.
type token struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	ExpiresAt  *string  `json:"expiresAt"`
	LastUsedAt *string  `json:"lastUsedAt"`
	Token      string   `json:"token,omitempty"`
}

// scopes says what a token is narrowed to.
func (t token) scopes() string {
	if t.Scopes == nil {
		return "all of its owner's"
	}
	return strings.Join(t.Scopes, ", ")
}

func tokenBody(s *remote.Session, name string, scopes []string, life time.Duration) map[string]any {
	body := map[string]any{"name": name, "expiresAt": remote.Sent(s.Clock.Now().Add(life))}
	if scopes != nil {
		body["scopes"] = scopes
	}
	return body
}

func makeToken(s *remote.Session, c *cobra.Command, api *client.Client, name string, scopes []string,
	life time.Duration,
) (made token, err error) {
	return made, api.Call(c.Context(), "POST", "/tokens", nil, tokenBody(s, name, scopes, life), &made)
}

// asOneself is a command that wants the password of who calls it, and does its
// work with a session.
type asOneself struct {
	*remote.Session
	username, passwordFile string
}

func (a *asOneself) flags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&a.username, "username", "",
		"the owner of the tokens; by default the user of the context, or admin")
	c.PersistentFlags().StringVar(&a.passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
}

func (a *asOneself) do(work func(c *cobra.Command, api *client.Client, args []string) error) func(
	*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := a.Check(); err != nil {
			return err
		}
		t, err := a.Target(a.username)
		if err != nil {
			return err
		}
		api, end, err := signIn(a.Session, c, t, a.passwordFile)
		if err != nil {
			return err
		}
		defer end()
		return work(c, api, args)
	}
}

func tokenCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "token", Short: "Manage your API tokens",
		Example: "  platform-scheduler token create CI --scope job:read --days 30",
		Long: `Manage your API tokens. A token cannot make or revoke tokens, so that these
commands ask for the password. It is sent to the server of the context alone.`,
	})
	as := &asOneself{Session: s}
	as.flags(c)
	var scopes []string
	var days int
	create := &cobra.Command{
		Use: "create NAME", Short: "Create a token and print it once",
		Example: "  platform-scheduler token create CI --scope job:read --days 30", Args: usage.Args(cobra.ExactArgs(1)),
		RunE: as.do(func(c *cobra.Command, api *client.Client, args []string) error {
			body := tokenBody(s, args[0], scopes, time.Duration(days)*24*time.Hour)
			return remote.SendBy(s, c, api, "POST", "/tokens", nil, body, func(made token) error {
				return s.Line("%s", made.Token)
			})
		}),
	}
	create.Flags().StringSliceVar(&scopes, "scope", nil, "limit it to a permission, such as job:read; may be repeated")
	create.Flags().IntVar(&days, "days", 90, "how many days it is valid, at most 366")
	var pages remote.Pages
	list := &cobra.Command{
		Use: "list", Short: "List the tokens", Example: "  platform-scheduler token list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: as.do(func(c *cobra.Command, api *client.Client, _ []string) error {
			return remote.ListOf(s, c, api, "/tokens", nil, pages,
				remote.Column[token]{Name: "id", Of: func(t token) string { return t.ID }},
				remote.Column[token]{Name: "name", Of: func(t token) string { return t.Name }},
				remote.Column[token]{Name: "scopes", Of: token.scopes},
				remote.Column[token]{Name: "expires", Of: func(t token) string { return s.Moment(t.ExpiresAt) }},
				remote.Column[token]{Name: "last used", Of: func(t token) string { return s.Moment(t.LastUsedAt) }},
			)
		}),
	}
	pages.Flags(list, 0)
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Revoke a token", Example: "  platform-scheduler token revoke 0193…",
		Args: usage.Args(cobra.ExactArgs(1)),
		RunE: as.do(func(c *cobra.Command, api *client.Client, args []string) error {
			return remote.SendBy(s, c, api, "DELETE", "/tokens/"+remote.Segment(args[0]), nil, nil, func(json.RawMessage) error {
				return s.Line("revoked %s", args[0])
			})
		}),
	}
	c.AddCommand(create, list, revoke)
	return c
}
