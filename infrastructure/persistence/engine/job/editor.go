package job

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// EditorOf is the id of the user who saved the definition that a version of a workflow has. It is empty for other jobs,
// and where nobody knows.
func (r *Jobs) EditorOf(ctx context.Context, id string, version int) (string, error) {
	if !sqlvalue.IsASCIIID(id) {
		return "", nil
	}
	editor, _, err := sqldb.First(ctx, r.c, "job.editor-of",
		"SELECT edited_by FROM scheduler_job_version WHERE job_id = ? AND version = ?", []any{id, version},
		func(rows *sql.Rows) (editor sql.NullString, err error) { return editor, rows.Scan(&editor) })
	return editor.String, err
}

// editors are those of workflows whose new versions are to be kept. A version that nobody saves, such as that of a
// pause, has the editor of the version before it.
func (w *jobWriter) editors(ctx context.Context, jobs []*entity.Job) (map[string]*string, error) {
	found := map[string]*string{}
	var unsaved []string
	for _, j := range jobs {
		switch {
		case j.Type != entity.JobWorkflow:
		case j.EditedBy != "":
			found[j.ID] = &j.EditedBy
		case j.Version > 1:
			unsaved = append(unsaved, j.ID)
		}
	}
	_, err := sqldb.CollectIn(ctx, w.c, "job.editors", "SELECT v.job_id, v.edited_by FROM scheduler_job_version v "+
		"WHERE {in} AND v.version = (SELECT MAX(m.version) FROM scheduler_job_version m WHERE m.job_id = v.job_id)",
		"v.job_id", sqlvalue.LockOrder(unsaved), func(rows *sql.Rows) (id string, err error) {
			var editor sql.NullString
			if err = rows.Scan(&id, &editor); err == nil && editor.Valid {
				found[id] = &editor.String
			}
			return id, err
		})
	return found, err
}
