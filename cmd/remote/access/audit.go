package access

import (
	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// audited are the flags that choose entries of the audit log.
var audited = []remote.Flag{
	{Name: "action", Help: "only this method and route, such as \"POST /api/v1/jobs\""},
	{Name: "object", Help: "only entries about the object with this id"},
	{Name: "name", As: "objectName", Help: "only entries about an object of this name, also a deleted one"},
	{Name: "user", As: "userId", To: userID, Help: "only actions of this `USER`, by name or id"},
}

// userID is the id of the user that was named; a deleted one has an id alone.
func userID(k *remote.Call, in remote.Input) (any, error) {
	if remote.IsID(in.Text) {
		return in.Text, nil
	}
	found, err := findUser(k, in.Text)
	return found.Text("id"), err
}

var audit = remote.Verb{
	Use: "audit", Short: "Show who did what, newest first (admins)",
	Example: "audit --user ann --from 2026-11-14\naudit export --format csv > audit.csv",
	Span:    "this machine", Flags: audited, Path: "/audit-logs", Paged: true, Limit: 50,
	Columns: "time|moment, user=username, address, action, object, name=objectName, result",
	Words:   remote.Words{"result": remote.Said("{status}[ {code}][ ({calls|several} times)]")},
}

var auditExport = remote.Verb{
	Use: "export", Short: "Print every entry, as CSV or as a JSON object on each line",
	Example: "audit export --from 2026-11-01 --format ndjson > audit.ndjson",
	Span:    "this machine", Path: "/audit-logs/export", Stream: true,
	Flags: append([]remote.Flag{{Name: "format", Default: "csv", Help: "csv or ndjson"}}, audited...),
}

func auditCommand(s *remote.Session) *cobra.Command {
	all := s.Command(audit)
	run := all.RunE
	usage.Parent(all).RunE = run
	all.AddCommand(s.Command(auditExport))
	return all
}
