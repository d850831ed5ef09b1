package alerting

import (
	"context"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// apart is how far ahead of the store's time the date of a row may lie: nodes measure that time.
const apart = 2 * time.Second

// pullBatch bounds the rows of one transaction.
const pullBatch = 500

// pull is how the rows of a table that lie ahead are written down to the present.
type pull struct {
	name, table string
	// ahead is the condition of rows that lie ahead; set changes those columns that do. Both name
	// moments as {after} and so on. Columns that others look at come last.
	ahead string
	set   []string
}

// down sets a column that lies ahead, where a condition holds.
func down(column, also, to string) string {
	return column + " = CASE WHEN " + column + " > {after}" + also + " THEN " + to + " ELSE " + column + " END"
}

var pulls = []pull{
	{
		name: "alert", table: "scheduler_alert",
		ahead: "update_time > {after} OR evidence_until > {after} OR clear_since > {after} OR pending_since > {after} OR " +
			"start_time > {after} OR last_time > {after}",
		set: []string{
			down("evidence_until", "", "{now}"), down("clear_since", "", "{now}"), down("pending_since", "", "{now}"),
			down("start_time", "", "{now}"), down("last_time", "", "{now}"), down("notify_due", "", "{now}"),
			down("update_time", "", "{now}"),
		},
	},
	{
		name: "notification", table: "scheduler_notification",
		ahead: "update_time > {after} OR create_time > {after} OR lease_until > {lease}",
		set: []string{
			down("next_try", " AND update_time > {after}", "{now}"),
			"lease_until = CASE WHEN lease_until > {lease} THEN {lease} ELSE lease_until END",
			down("create_time", "", "{minute}"), // what was told before counts in no bound of a minute
			down("update_time", "", "{now}"),
		},
	},
	{
		name: "alert-action", table: "scheduler_alert_action", ahead: "create_time > {after} OR act_time > {after}",
		set: []string{
			down("next_try", " AND create_time > {after}", "{now}"), down("act_time", "", "{now}"),
			down("create_time", "", "{now}"),
		},
	},
}

// waiting are alerts that are to be planned at a moment to come.
var waiting = pull{
	name: "alert", table: "scheduler_alert", ahead: "notify_due > {after}", set: []string{down("notify_due", "", "{now}")},
}

// PullBack implements repository.Alerts.
func (r *Alerts) PullBack(ctx context.Context, now time.Time, plans bool) (rows int, err error) {
	all := pulls
	if plans {
		all = append(all[:len(all):len(all)], waiting)
	}
	moments := map[string]time.Time{
		"{after}": now.Add(
			apart,
		), "{now}": now, "{minute}": now.Add(-time.Minute), "{lease}": now.Add(alert.LeaseTime + apart),
	}
	for _, p := range all {
		n, err := r.pullBack(ctx, p, moments)
		if rows += n; err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// pullBack writes one table, in transactions of bounded size.
func (r *Alerts) pullBack(ctx context.Context, p pull, moments map[string]time.Time) (rows int, err error) {
	ahead, aheadArgs := fill(p.ahead, moments)
	set, setArgs := fill(strings.Join(p.set, ", "), moments)
	for {
		ids, err := sqldb.Collect(ctx, r.s.Pool, p.name+".ahead",
			"SELECT id FROM "+p.table+" WHERE "+ahead+" ORDER BY id LIMIT ?", append(aheadArgs[:len(aheadArgs):len(aheadArgs)],
				pullBatch), sqlvalue.ScanText)
		if err != nil || len(ids) == 0 {
			return rows, err
		}
		err = r.s.Change(ctx, repository.LaneComplete, p.name+"-pull-back", func(ctx context.Context, c *sqldb.Conn) error {
			in, inArgs := c.Dialect.InAny("id", ids)
			_, err := c.Exec(ctx, p.name+".pull-back", "UPDATE "+p.table+" SET "+set+" WHERE "+in,
				append(setArgs[:len(setArgs):len(setArgs)], inArgs...)...)
			return err
		})
		if rows += len(ids); err != nil || len(ids) < pullBatch {
			return rows, err
		}
	}
}

// fill puts parameters for the moments that a text names.
func fill(text string, moments map[string]time.Time) (string, []any) {
	var out strings.Builder
	var args []any
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String(), args
		}
		name, after, _ := strings.Cut(rest, "}")
		out.WriteString("?")
		args, text = append(args, sqlvalue.TimeArg(moments["{"+name+"}"])), after
	}
}
