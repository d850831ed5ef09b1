package job

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/group"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Break implements repository.JobWriter. The version is kept as a copy of the
// former one, as text: what cannot be planned may not be readable either.
func (w *jobWriter) Break(ctx context.Context, b repository.JobBreak) (bool, error) {
	note := group.NoteText(b.At, entity.Pause{Reason: validation.Text(b.Reason, entity.MaxPauseReason)})
	n, err := w.c.Exec(ctx, "job.break",
		`UPDATE scheduler_job_definition SET last_fire_time = next_fire_time, next_fire_time = ?,
		due_time = NULL, status = 'PAUSED', paused_by = '', paused_at = ?, pause_note = ?, paused_until = NULL, version = version + 1, update_time = ?
		WHERE id = ? AND version = ? AND next_fire_time = ? AND status = 'ENABLED' AND deleted = 0`,
		sqlvalue.TimeArg(b.Next), sqlvalue.TimeArg(b.At), note, sqlvalue.TimeArg(b.At), b.ID, b.Version,
		sqlvalue.TimeArg(b.From))
	if err != nil || n == 0 {
		return false, err
	}
	err = w.copyVersion(ctx, b.ID, b.Version, b.At)
	return err == nil, err
}

// copyVersion keeps the definition of a version for the next one, too, which
// pauses the job and changes nothing else.
func (w *jobWriter) copyVersion(ctx context.Context, id string, version int, at time.Time) error {
	_, err := w.c.Exec(ctx, "job.copy-version",
		`INSERT INTO scheduler_job_version (job_id, version, definition, create_time, edited_by)
		SELECT v.job_id, ?, REPLACE(v.definition, '"status":"ENABLED"}', '"status":"PAUSED"}'), ?, v.edited_by FROM scheduler_job_version v
		WHERE v.job_id = ? AND v.version = ? AND NOT EXISTS (SELECT 1 FROM scheduler_job_version k WHERE k.job_id = ? AND k.version = ?)`,
		version+1, sqlvalue.TimeArg(at), id, version, id, version+1)
	return err
}
