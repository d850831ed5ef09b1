package job

import (
	"context"
	"encoding/json"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// pauseNote is how a pause stands in its column. At is the beginning of the
// pause that it belongs to: a program that knows no notes leaves those of former
// pauses where they are.
type pauseNote struct {
	At     string `json:"at"`
	Reason string `json:"reason,omitempty"`
	User   string `json:"user,omitempty"`
}

// noteText is empty for a pause of which nothing is known.
func noteText(at time.Time, p entity.Pause) string {
	if at.IsZero() {
		return ""
	}
	b, _ := json.Marshal(pauseNote{At: sqlvalue.TimeText(at), Reason: p.Reason, User: p.User}) // texts always marshal
	return string(b)
}

// readPause reads a note on its own.
func readPause(text string, until time.Time) (at time.Time, p entity.Pause) {
	var n pauseNote
	if json.Unmarshal([]byte(text), &n) != nil {
		return time.Time{}, p
	}
	return sqlvalue.ParseTime(n.At), entity.Pause{Reason: n.Reason, User: n.User, Until: until}
}

// pauseOf reads the note of the pause that began then. One that cannot be read
// is left out: it decides nothing.
func pauseOf(at time.Time, text string, until time.Time) entity.Pause {
	if at.IsZero() {
		return entity.Pause{}
	}
	began, p := readPause(text, until)
	if !began.Equal(at.Truncate(time.Millisecond)) {
		return entity.Pause{}
	}
	return p
}

// Break implements repository.JobWriter. The version is kept as a copy of the
// former one, as text: what cannot be planned may not be readable either.
func (w *jobWriter) Break(ctx context.Context, b repository.JobBreak) (bool, error) {
	note := noteText(b.At, entity.Pause{Reason: validation.Text(b.Reason, entity.MaxPauseReason)})
	n, err := w.c.Exec(ctx, "job.break", `UPDATE scheduler_job_definition SET last_fire_time = next_fire_time, next_fire_time = ?,
		due_time = NULL, status = 'PAUSED', paused_by = '', paused_at = ?, pause_note = ?, paused_until = NULL, version = version + 1, update_time = ?
		WHERE id = ? AND version = ? AND next_fire_time = ? AND status = 'ENABLED' AND deleted = 0`,
		sqlvalue.TimeArg(b.Next), sqlvalue.TimeArg(b.At), note, sqlvalue.TimeArg(b.At), b.ID, b.Version, sqlvalue.TimeArg(b.From))
	if err != nil || n == 0 {
		return false, err
	}
	err = w.copyVersion(ctx, b.ID, b.Version, b.At)
	return err == nil, err
}

// copyVersion keeps the definition of a version for the next one, too, which
// pauses the job and changes nothing else.
func (w *jobWriter) copyVersion(ctx context.Context, id string, version int, at time.Time) error {
	_, err := w.c.Exec(ctx, "job.copy-version", `INSERT INTO scheduler_job_version (job_id, version, definition, create_time)
		SELECT v.job_id, ?, REPLACE(v.definition, '"status":"ENABLED"}', '"status":"PAUSED"}'), ? FROM scheduler_job_version v
		WHERE v.job_id = ? AND v.version = ? AND NOT EXISTS (SELECT 1 FROM scheduler_job_version k WHERE k.job_id = ? AND k.version = ?)`,
		version+1, sqlvalue.TimeArg(at), id, version, id, version+1)
	return err
}
