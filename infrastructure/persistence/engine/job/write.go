package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/group"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// jobWriter implements repository.JobWriter.
type jobWriter struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.JobWriter { return &jobWriter{c} }

// Lock implements repository.JobWriter.
func (w *jobWriter) Lock(ctx context.Context, ids []string) ([]repository.JobHead, error) {
	found, err := w.lock(ctx, sqlvalue.LockOrder(ids), w.c.Dialect.ForUpdate)
	return headsOf(found), err
}

// lock locks deleted ones, too: their last runs end under that lock.
func (w *jobWriter) lock(ctx context.Context, ids []string, how string) (found []lockedJob, err error) {
	found, err = sqldb.CollectIn(ctx, w.c, "job.lock",
		"SELECT id, next_fire_time, due_time, version, status, fence_seq, deleted FROM scheduler_job_definition"+
			w.c.Dialect.ByPrimary+" WHERE {in} ORDER BY id"+how, "id", ids, scanLocked)
	if err != nil {
		return nil, err
	}
	_ = failpoint.Hit(w.c.Transaction, "locked")
	return found, nil
}

// TryLock implements repository.JobWriter. A job that is not returned is
// locked or gone; a second look tells which, where that can be.
func (w *jobWriter) TryLock(ctx context.Context,
	ids []string,
) (heads []repository.JobHead, locked []string, err error) {
	ids = sqlvalue.LockOrder(ids)
	found, err := w.lock(ctx, ids, w.c.Dialect.SkipLocked)
	if err != nil || len(found) == len(ids) || w.c.Dialect.IsSQLite() {
		return headsOf(found), nil, err
	}
	mine := make(map[string]bool, len(found))
	for i := range found {
		mine[found[i].ID] = true
	}
	missing := slices.DeleteFunc(ids, func(id string) bool { return mine[id] })
	locked, err = sqldb.CollectIn(ctx, w.c, "job.locked",
		"SELECT id FROM scheduler_job_definition"+w.c.Dialect.ByPrimary+" WHERE {in}", "id", missing, sqlvalue.ScanText)
	if err != nil {
		return nil, nil, err
	}
	return headsOf(found), locked, nil
}

// lockedJob is a locked row of a job.
type lockedJob struct {
	repository.JobHead
	deleted bool
}

// headsOf are those of jobs that are not deleted.
func headsOf(found []lockedJob) []repository.JobHead {
	heads := make([]repository.JobHead, 0, len(found))
	for _, l := range found {
		if !l.deleted {
			heads = append(heads, l.JobHead)
		}
	}
	return heads
}

func scanLocked(rows *sql.Rows) (l lockedJob, err error) {
	var next, due sqlvalue.DBTime
	_, err = sqlvalue.ScanRow(rows, &l.ID, &next, &due, &l.Version, &l.Status, &l.FenceSeq, &l.deleted)
	l.NextFireTime, l.DueTime = next.Time(), due.Time()
	return l, err
}

// LockFull implements repository.JobWriter.
func (w *jobWriter) LockFull(ctx context.Context, id string) (*entity.Job, error) {
	return w.lockWhole(ctx, id, "job.lock-full", "0")
}

// LockDeleted implements repository.JobWriter.
func (w *jobWriter) LockDeleted(ctx context.Context, id string) (*entity.Job, error) {
	return w.lockWhole(ctx, id, "job.lock-deleted", "1")
}

func (w *jobWriter) lockWhole(ctx context.Context, id, statement, deleted string) (*entity.Job, error) {
	if !sqlvalue.IsASCIIID(id) {
		return nil, apperror.NotFound("job", id)
	}
	return sqldb.One(ctx, w.c, statement, "SELECT "+jobColumns+" FROM scheduler_job_definition"+
		w.c.Dialect.ByPrimary+" WHERE id = ? AND deleted = "+deleted+w.c.Dialect.ForUpdate, []any{id}, newJobReader(whole).scan,
		apperror.NotFound("job", id))
}

// Read implements repository.JobWriter.
func (w *jobWriter) Read(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return readPlans(ctx, w.c, "job.read", sqlvalue.LockOrder(ids), "deleted = 0")
}

// jobInsertRows bounds the rows of one INSERT: 54 columns each, and SQLite
// takes at most 32,766 arguments.
const jobInsertRows = 200

// Insert implements repository.JobWriter.
func (w *jobWriter) Insert(ctx context.Context, jobs ...*entity.Job) error {
	rows := make([]*jobRow, 0, len(jobs))
	for _, j := range jobs {
		row, err := toJobRow(j, false)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	for part := range slices.Chunk(rows, jobInsertRows) {
		var names []string
		var args []any
		for i, row := range part {
			row.columns(func(name string, at any, _ jobReads) {
				if i == 0 {
					names = append(names, name)
				}
				args = append(args, columnValue(at))
			})
		}
		values := strings.Repeat(", ("+dialect.Marks(len(names))+")", len(part))[2:]
		_, err := w.c.Exec(ctx, "job.insert", "INSERT INTO scheduler_job_definition ("+strings.Join(names,
			", ")+") VALUES "+values, args...)
		if err != nil {
			return nameTaken(err)
		}
	}
	if err := group.Ensure(ctx, w.c, jobs...); err != nil {
		return err
	}
	return w.keepVersions(ctx, jobs)
}

// nameTaken turns a duplicate into the conflict that the caller can mend.
func nameTaken(err error) error {
	if !errors.Is(err, repository.ErrDuplicateID) {
		return err
	}
	if dialect.Violates(err, "uk_name_key", "name_key") {
		return apperror.Conflict("name_taken", "a job with this name exists in the group; choose another name")
	}
	return apperror.Conflict("id_taken", "a job with this id exists")
}

// versionRow is a row of scheduler_job_version.
type versionRow struct {
	JobID      string
	Version    int
	Definition string
	CreateTime sqlvalue.DBTime
	CreatedBy  *string
	EditedBy   *string
}

// TableName implements GORM's Tabler.
func (versionRow) TableName() string { return "scheduler_job_version" }

// keepVersions keeps the definitions under their versions; one that is kept
// already stays as it is.
func (w *jobWriter) keepVersions(ctx context.Context, jobs []*entity.Job) error {
	rows := make([]versionRow, 0, len(jobs))
	var author *string
	if name := repository.Actor(ctx); name != "" {
		author = &name
	}
	editors, err := w.editors(ctx, jobs)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		text, err := definitionJSON(j)
		if err != nil {
			return fmt.Errorf("keep version %d of job %s: %w", j.Version, j.ID, err)
		}
		rows = append(rows, versionRow{
			JobID: j.ID, Version: j.Version, Definition: text,
			CreateTime: sqlvalue.DBTime(j.UpdateTime), CreatedBy: author, EditedBy: editors[j.ID],
		})
	}
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if err := w.c.GORM(ctx, "job.keep-version").Clauses(clause.OnConflict{DoNothing: true}).Create(part).
			Error; err != nil {
			return err
		}
	}
	return nil
}

// Update implements repository.JobWriter.
func (w *jobWriter) Update(ctx context.Context, job *entity.Job, deleted bool) error {
	row, err := toJobRow(job, deleted)
	if err != nil {
		return err
	}
	kept := []string{"id", "create_time"}
	for _, u := range job.Unread {
		kept = append(kept, u.Field)
	}
	var set []string
	var args []any
	row.columns(func(name string, at any, _ jobReads) {
		if !slices.Contains(kept, name) {
			set, args = append(set, name+" = ?"), append(args, columnValue(at))
		}
	})
	found, err := w.c.Exec(ctx, "job.update", "UPDATE scheduler_job_definition SET "+strings.Join(set,
		", ")+" WHERE id = ?", append(args, job.ID)...)
	if err != nil {
		return nameTaken(err)
	}
	if found == 0 {
		return apperror.NotFound("job", job.ID)
	}
	if err := group.Ensure(ctx, w.c, job); err != nil {
		return err
	}
	if len(job.Unread) > 0 {
		return w.copyVersion(ctx, job.ID, job.Version-1, job.UpdateTime)
	}
	return w.keepVersions(ctx, []*entity.Job{job})
}
