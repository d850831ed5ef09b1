package alerting

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// ListAlerts implements repository.Alerts. Open alerts are few, and the index of the
// status leads to them; so does the one of the job to its alerts. All other filters read
// windows of rows.
func (r *Alerts) ListAlerts(ctx context.Context, f repository.AlertFilter,
	p repository.Page,
) ([]*alert.Alert, string, error) {
	before, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !sqlvalue.IsASCIIID(f.JobID) || !sqlvalue.IsASCIIID(f.RuleID) {
		return nil, "", nil
	}
	lo, hi := "", before
	if !f.From.IsZero() {
		lo = identity.FloorID(f.From)
	}
	if to := identity.FloorID(f.To); !f.To.IsZero() && (hi == "" || to < hi) {
		hi = to
	}
	limit := listing.PageSize(p.Limit)
	conditions := r.conditions(f)
	page := func(ctx context.Context, lo, hi string, limit int) ([]*alert.Alert, string, error) {
		where, args := listing.JoinConditions(append(slices.Clone(conditions), listing.IDBounds("id", lo, hi))...)
		found, err := sqldb.Collect(ctx, r.s.Pool, "alert.list",
			"SELECT "+alertColumns+" FROM scheduler_alert"+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanAlert)
		if err != nil {
			return nil, "", err
		}
		rows, next := listing.CutPage(found, limit, func(a *alert.Alert) string { return a.ID })
		return rows, next, nil
	}
	if f.JobID == "" && !onlyOpen(f.Statuses) && narrows(f) {
		return listing.WindowScan[*alert.Alert]{
			Conn: r.s.Pool, Statement: "alert.window", Table: "scheduler_alert", Key: "id", Page: page,
		}.Run(ctx, lo, hi, limit)
	}
	return page(ctx, lo, hi, limit)
}

// onlyOpen reports whether a filter leaves out what is over.
func onlyOpen(statuses []alert.Status) bool {
	return len(statuses) > 0 && !slices.Contains(statuses, alert.Resolved)
}

// narrows reports whether a filter leaves something out beside what its span does.
func narrows(f repository.AlertFilter) bool {
	return len(f.Statuses) > 0 || f.Level != "" || f.Type != "" || f.RuleID != "" || f.NodeID != "" ||
		len(f.Labels) > 0 || f.Groups != nil
}

func (r *Alerts) conditions(f repository.AlertFilter) []listing.Condition {
	out := []listing.Condition{
		listing.Equals("alert_level", string(f.Level)), listing.Equals("alert_type", string(f.Type)),
		listing.Equals("rule_id", f.RuleID), listing.Equals("job_id", f.JobID), listing.Equals("node_id", f.NodeID),
	}
	if len(f.Statuses) > 0 {
		statuses := convert.All(f.Statuses, func(s alert.Status) string { return string(s) })
		in, args := r.s.Dialect.In("status", statuses)
		out = append(out, listing.Condition{Text: in, Args: args})
	}
	if f.Groups != nil {
		in, args := r.s.Dialect.InAny("group_name", f.Groups)
		out = append(out, listing.Condition{Text: "group_name <> '' AND " + in, Args: args})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		out = append(out, listing.Condition{Text: "INSTR(labels, ?) > 0", Args: []any{labelText(name, f.Labels[name])}})
	}
	return out
}

// labelText is a label as it stands in the stored JSON. Quotes inside of texts are escaped
// there, so that it is found nowhere else.
func labelText(name, value string) string {
	text, _ := json.Marshal(map[string]string{name: value}) // texts always marshal
	return string(text[1 : len(text)-1])
}
