package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// send makes a call and prints its answer.
func (r *remote) send(c *cobra.Command, method, path string, body any) error {
	api, err := r.client()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.Call(c.Context(), method, path, nil, body, &raw); err != nil || len(raw) == 0 {
		return err
	}
	return r.print(raw)
}

// token is what the commands show of an API token.
type token struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	ExpiresAt  string   `json:"expiresAt"`
	LastUsedAt *string  `json:"lastUsedAt"`
	Token      string   `json:"token,omitempty"`
}

func makeToken(c *cobra.Command, api *client.Client, name string, scopes []string, life time.Duration) (made token, err error) {
	body := map[string]any{"name": name, "expiresAt": clock.NewSystem().Now().Add(life).UTC().Format(time.RFC3339)}
	if scopes != nil {
		body["scopes"] = scopes
	}
	return made, api.Call(c.Context(), "POST", "/tokens", nil, body, &made)
}

func (r *remote) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Manage one's API tokens", Long: "Manage one's API tokens. A token cannot make or revoke tokens, so that these\ncommands ask for the password.",
		Example: "  platform-scheduler token create CI --scope job:read --days 30", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var username, passwordFile string
	c.PersistentFlags().StringVar(&username, "username", "admin", "whose tokens")
	c.PersistentFlags().StringVar(&passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
	signedIn := func(do func(c *cobra.Command, api *client.Client, args []string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			api, end, err := r.signIn(c, username, passwordFile)
			if err != nil {
				return err
			}
			defer end()
			return do(c, api, args)
		}
	}
	var scopes []string
	var days int
	create := &cobra.Command{
		Use: "create NAME", Short: "Make a token and print it, this once", Example: "  platform-scheduler token create CI --scope job:read --days 30", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: signedIn(func(c *cobra.Command, api *client.Client, args []string) error {
			made, err := makeToken(c, api, args[0], scopes, time.Duration(days)*24*time.Hour)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(r.out, made.Token)
			return err
		}),
	}
	create.Flags().StringSliceVar(&scopes, "scope", nil, "narrow it to a permission, such as job:read; may be given again")
	create.Flags().IntVar(&days, "days", 90, "how long it is good for, at most 366")
	c.AddCommand(create,
		&cobra.Command{
			Use: "list", Short: "List the tokens", Example: "  platform-scheduler token list", Args: usageArgs(cobra.NoArgs),
			RunE: signedIn(func(c *cobra.Command, api *client.Client, _ []string) error {
				tokens, err := client.List[token](c.Context(), api, "/tokens", nil, 0)
				if err != nil {
					return err
				}
				return show(r, tokens, "ID\tNAME\tSCOPES\tEXPIRES\tLAST USED", func(t token) []any {
					return []any{t.ID, t.Name, t.Scopes, t.ExpiresAt, deref(t.LastUsedAt)}
				}, "%s\t%s\t%v\t%s\t%s")
			}),
		},
		&cobra.Command{
			Use: "revoke ID", Short: "End a token", Example: "  platform-scheduler token revoke 0193…", Args: usageArgs(cobra.ExactArgs(1)),
			RunE: signedIn(func(c *cobra.Command, api *client.Client, args []string) error {
				return api.Call(c.Context(), "DELETE", "/tokens/"+args[0], nil, nil, nil)
			}),
		})
	return c
}
