package alerting

import (
	"database/sql"
	"fmt"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// alertColumns is the order in which alerts are read and inserted; those behind
// alertFixed change.
const (
	alertFixed    = "id, fingerprint, alert_type, rule_id, group_name, job_id, execution_id, node_id, create_time"
	alertChanging = "pending_since, open_key, alert_level, status, rule_version, last_execution_id, labels, " +
		"content, details, evidence_count, start_time, last_time, end_time, clear_since, evidence_until, acked_by, " +
		"ack_time, resolved_by, resolution, seq, notify_due, update_time, comment"
	alertColumns = alertFixed + ", " + alertChanging
	alertWidth   = 32
)

// maxContent is what the column of a content holds, in bytes.
const maxContent = 16 << 10

func fixedArgs(a *alert.Alert) []any {
	return []any{
		a.ID, a.Fingerprint, string(a.Type), a.RuleID, a.Group, sqlvalue.TextOrNull(a.JobID),
		sqlvalue.TextOrNull(a.ExecutionID), sqlvalue.TextOrNull(a.NodeID), sqlvalue.TimeArg(a.CreateTime),
	}
}

func changingArgs(a *alert.Alert) ([]any, error) {
	if len(a.Content) > maxContent || !utf8.ValidString(a.Content) {
		return nil, sqlvalue.Poison(a.ID, "its content is not valid UTF-8, or longer than %d bytes", maxContent)
	}
	labels, err := sqlvalue.MapJSON(a.Labels)
	if err != nil {
		return nil, err
	}
	details, err := sqlvalue.MapJSON(a.Details)
	if err != nil {
		return nil, err
	}
	held := any(nil)
	if a.Held {
		held = a.Fingerprint
	}
	return []any{
		sqlvalue.TimeArg(a.PendingSince), held, string(a.Level), string(a.Status), a.RuleVersion,
		sqlvalue.TextOrNull(a.LastExecutionID),
		sqlvalue.TextOrNull(labels), a.Content, sqlvalue.TextOrNull(details), a.Count, sqlvalue.TimeArg(a.StartTime),
		sqlvalue.TimeArg(a.LastTime), sqlvalue.TimeArg(a.EndTime), sqlvalue.TimeArg(a.ClearSince),
		sqlvalue.TimeArg(a.EvidenceUntil), sqlvalue.TextOrNull(a.AckedBy), sqlvalue.TimeArg(a.AckTime),
		sqlvalue.TextOrNull(a.ResolvedBy), sqlvalue.TextOrNull(a.Resolution), a.Seq, sqlvalue.TimeArg(a.NotifyDue),
		sqlvalue.TimeArg(a.UpdateTime), sqlvalue.TextOrNull(a.Comment),
	}, nil
}

// text is a column of text that may be NULL.
type text string

// Scan implements sql.Scanner.
func (t *text) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = ""
	case []byte:
		*t = text(v)
	case string:
		*t = text(v)
	default:
		return fmt.Errorf("read a text from %T", src)
	}
	return nil
}

func scanAlert(rows *sql.Rows) (*alert.Alert, error) {
	a := &alert.Alert{}
	var job, execution, node, held, last, labels, details, acked, resolved, resolution, comment text
	var pending, created, start, latest, end, clearSince, until, ack, due, updated sqlvalue.DBTime
	err := rows.Scan(&a.ID, &a.Fingerprint, &a.Type, &a.RuleID, &a.Group, &job, &execution, &node, &created, &pending,
		&held, &a.Level, &a.Status, &a.RuleVersion, &last, &labels, &a.Content, &details, &a.Count, &start, &latest, &end,
		&clearSince, &until, &acked, &ack, &resolved, &resolution, &a.Seq, &due, &updated, &comment)
	if err != nil {
		return nil, err
	}
	a.JobID, a.ExecutionID, a.NodeID, a.LastExecutionID = string(job), string(execution), string(node), string(last)
	a.AckedBy, a.ResolvedBy, a.Resolution = string(acked), string(resolved), alert.Resolution(resolution)
	a.Held, a.Comment = held != "", string(comment)
	a.PendingSince, a.CreateTime, a.StartTime, a.LastTime = pending.Time(), created.Time(), start.Time(), latest.Time()
	a.EndTime, a.ClearSince, a.EvidenceUntil, a.AckTime = end.Time(), clearSince.Time(), until.Time(), ack.Time()
	a.NotifyDue, a.UpdateTime = due.Time(), updated.Time()
	// Labels and details explain an alert; one without them is still an alert.
	var unread []entity.Unread
	a.Labels = sqlvalue.ReadJSON[map[string]string]("labels", string(labels), &unread)
	a.Details = sqlvalue.ReadJSON[map[string]string]("details", string(details), &unread)
	return a, nil
}
