package access

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// auditEntry is what the commands show of a line of the audit log.
type auditEntry struct {
	Time       *string `json:"time"`
	Username   string  `json:"username"`
	Address    string  `json:"address"`
	Action     string  `json:"action"`
	Object     string  `json:"object"`
	ObjectName string  `json:"objectName"`
	Status     int     `json:"status"`
	Code       string  `json:"code"`
	Calls      int     `json:"calls"`
}

// result is the status, why where it was refused, and how often.
func (e auditEntry) result() string {
	text := strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Code))
	if e.Calls > 1 {
		text += fmt.Sprintf(" (%d times)", e.Calls)
	}
	return text
}

// auditFilter are the flags that choose entries.
type auditFilter struct {
	user, action, object, name string
	span                       remote.Span
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.user, "user", "", "only actions of this `USER`, by name or id")
	c.Flags().StringVar(&f.action, "action", "", "only this method and route, such as \"POST /api/v1/jobs\"")
	c.Flags().StringVar(&f.object, "object", "", "only entries about the object with this id")
	c.Flags().StringVar(&f.name, "name", "", "only entries about an object of this name, also a deleted one")
	f.span.Flags(c, "this machine")
}

func (f *auditFilter) query(s *remote.Session, c *cobra.Command, api *client.Client) (url.Values, error) {
	from, to, err := f.span.Sent(s, "")
	if err != nil {
		return nil, err
	}
	id := f.user
	if id != "" && !remote.IsID(id) { // a deleted user has an id alone
		u, err := findUser(c, api, f.user)
		if err != nil {
			return nil, err
		}
		id = u.ID
	}
	return remote.Query("userId", id, "action", f.action, "object", f.object, "objectName", f.name, "from", from, "to",
		to), nil
}

func auditCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "audit", Short: "Show who did what, newest first (admins)",
		Example: "  platform-scheduler audit --user ann --from 2026-11-14\n  platform-scheduler audit export --format csv " +
			"> audit.csv",
	})
	var f auditFilter
	var pages remote.Pages
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := s.Client()
		if err != nil {
			return err
		}
		query, err := f.query(s, c, api)
		if err != nil {
			return err
		}
		return remote.ListOf(s, c, api, "/audit-logs", query, pages,
			remote.Column[auditEntry]{Name: "time", Of: func(e auditEntry) string { return s.Moment(e.Time) }},
			remote.Column[auditEntry]{Name: "user", Of: func(e auditEntry) string { return e.Username }},
			remote.Column[auditEntry]{Name: "address", Of: func(e auditEntry) string { return e.Address }},
			remote.Column[auditEntry]{Name: "action", Of: func(e auditEntry) string { return e.Action }},
			remote.Column[auditEntry]{Name: "object", Of: func(e auditEntry) string { return e.Object }},
			remote.Column[auditEntry]{Name: "name", Of: func(e auditEntry) string { return e.ObjectName }},
			remote.Column[auditEntry]{Name: "result", Of: auditEntry.result},
		)
	}
	f.flags(c)
	pages.Flags(c, 50)
	c.AddCommand(auditExport(s))
	return c
}

func auditExport(s *remote.Session) *cobra.Command {
	var f auditFilter
	var format string
	c := &cobra.Command{
		Use: "export", Short: "Print every entry, as CSV or as a JSON object on each line", Args: usage.Args(cobra.NoArgs),
		Example: "  platform-scheduler audit export --from 2026-11-01 --format ndjson > audit.ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			query, err := f.query(s, c, api)
			if err != nil {
				return err
			}
			query.Set("format", format)
			from, err := api.Stream(c.Context(), "/audit-logs/export?"+query.Encode(), "")
			if err != nil {
				return err
			}
			defer from.Close()
			if _, err := io.Copy(s.Out, from); err != nil {
				return fmt.Errorf("the export broke off: %w", err)
			}
			return nil
		},
	}
	f.flags(c)
	c.Flags().StringVar(&format, "format", "csv", "csv or ndjson")
	return c
}
