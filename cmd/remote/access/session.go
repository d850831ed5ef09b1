package access

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func sessionCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "session", Short: "See and end your sign-ins", Example: "  platform-scheduler session list",
		Long: "See and end your sign-ins. A token cannot do so: these commands ask for the password,\nand sign in with it.",
	})
	as := &asOneself{Session: s}
	as.flags(c)
	list := &cobra.Command{
		Use: "list", Short: "List your sessions, latest first", Example: "  platform-scheduler session list",
		Args: usage.Args(cobra.NoArgs),
		RunE: as.do(func(c *cobra.Command, api *client.Client, _ []string) error {
			type session struct {
				CreateTime, ExpiresAt *string
				Current               bool
			}
			type sessions struct{ Items []session }
			return remote.SendBy(s, c, api, "GET", "/auth/sessions", nil, nil, func(found sessions) error {
				for _, v := range found.Items {
					mark := ""
					if v.Current {
						mark = ", this one"
					}
					if err := s.Line("since %s, ends %s%s", s.Moment(v.CreateTime), s.Moment(v.ExpiresAt), mark); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
	end := &cobra.Command{
		Use: "end-others", Short: "End all your other sessions", Example: "  platform-scheduler session end-others",
		Args: usage.Args(cobra.NoArgs),
		RunE: as.do(func(c *cobra.Command, api *client.Client, _ []string) error {
			return remote.SendBy(s, c, api, "DELETE", "/auth/sessions", nil, nil, func(json.RawMessage) error {
				return s.Line("ended your other sessions")
			})
		}),
	}
	c.AddCommand(list, end)
	return c
}
