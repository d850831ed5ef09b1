// Package backfill keeps backfills, and finds what their jobs have run already.
package backfill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Backfills reads backfills: repository.Backfills.
type Backfills struct{ c *sqldb.Conn }

// NewBackfills gives the repository over the connections of c.
func NewBackfills(c *sqldb.Conn) *Backfills { return &Backfills{c} }

// activeFailed is how an active backfill is stored that includes what failed. Nodes of
// the former release would pass over that; they leave such a row to the others.
const activeFailed = "ACTIVE_FAILED"

// isActive finds active backfills.
const isActive = "status IN ('" + string(entity.BackfillActive) + "', '" + activeFailed + "')"

// statusText is how the status of a backfill is stored.
func statusText(b entity.Backfill) string {
	if b.IncludeFailed && b.Status == entity.BackfillActive {
		return activeFailed
	}
	return string(b.Status)
}

// backfillRow is a row of scheduler_backfill.
type backfillRow struct {
	ID          string `gorm:"column:id;primaryKey"`
	JobID       string
	FromTime    sqlvalue.DBTime
	ToTime      sqlvalue.DBTime
	Schedule    string
	CursorTime  sqlvalue.DBTime
	MaxParallel int
	Status      string
	Planned     int
	AlreadyRun  int
	Started     int
	OpenTimes   string
	// IncludeFailed is false in rows of the former release.
	IncludeFailed bool
	UserName      string
	Version       int
	CreateTime    sqlvalue.DBTime
	UpdateTime    sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (backfillRow) TableName() string { return "scheduler_backfill" }

func (r *backfillRow) entity() entity.Backfill {
	b := entity.Backfill{
		ID: r.ID, JobID: r.JobID, From: r.FromTime.Time(), To: r.ToTime.Time(), Cursor: r.CursorTime.Time(),
		MaxParallel: r.MaxParallel, IncludeFailed: r.IncludeFailed, Status: entity.BackfillStatus(r.Status),
		Total: r.Planned, AlreadyRun: r.AlreadyRun,
		Started: r.Started, User: r.UserName,
		Version: r.Version, CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
	}
	if r.Status == activeFailed {
		b.Status = entity.BackfillActive
	}
	var unread []entity.Unread
	b.Schedule = sqlvalue.ReadJSON[schedule.Spec]("schedule", r.Schedule, &unread)
	for _, ms := range strings.Fields(r.OpenTimes) {
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			unread = append(unread, entity.Unread{Field: "open_times", Why: err.Error()})
			break
		}
		b.Open = append(b.Open, time.UnixMilli(n).UTC())
	}
	b.Unreadable = entity.Describe(unread)
	return b
}

// openTimes writes times as milliseconds with spaces between them.
func openTimes(times []time.Time) string {
	var buf []byte
	for _, t := range times {
		buf = append(strconv.AppendInt(buf, t.UnixMilli(), 10), ' ')
	}
	return string(buf)
}

func backfillsOf(c *sqldb.Conn, rows []backfillRow) []entity.Backfill {
	out := make([]entity.Backfill, len(rows))
	for i := range rows {
		out[i] = rows[i].entity()
	}
	return sqldb.NoteUnread(c, out)
}

// Backfill implements repository.Backfills.
func (r *Backfills) Backfill(ctx context.Context, id string) (entity.Backfill, error) {
	return findBackfill(ctx, r.c, id)
}

func findBackfill(ctx context.Context, c *sqldb.Conn, id string) (entity.Backfill, error) {
	if !sqlvalue.IsASCIIID(id) {
		return entity.Backfill{}, apperror.NotFound("backfill", id)
	}
	var row backfillRow
	err := c.GORM(ctx, "backfill.get").Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return entity.Backfill{}, apperror.NotFound("backfill", id)
	}
	if err != nil {
		return entity.Backfill{}, err
	}
	return backfillsOf(c, []backfillRow{row})[0], nil
}

// ListBackfills implements repository.Backfills.
func (r *Backfills) ListBackfills(ctx context.Context, jobID string,
	p repository.Page,
) ([]entity.Backfill, string, error) {
	before, err := listing.ReadCursor(p.Cursor)
	if err != nil || !sqlvalue.IsASCIIID(jobID) {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	db := r.c.GORM(ctx, "backfill.list").Where("job_id = ?", jobID)
	if before != "" {
		db = db.Where("id < ?", before)
	}
	var rows []backfillRow
	if err := db.Order("id DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(b backfillRow) string { return b.ID })
	return backfillsOf(r.c, rows), next, nil
}

// ActiveBackfills implements repository.Backfills.
func (r *Backfills) ActiveBackfills(ctx context.Context, limit int) ([]entity.Backfill, error) {
	var rows []backfillRow
	err := r.c.GORM(ctx, "backfill.active").Where(isActive).Order("id").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, err
	}
	return backfillsOf(r.c, rows), nil
}

// FiresAt implements repository.Backfills.
func (r *Backfills) FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error) {
	return firesAt(ctx, r.c, jobID, times)
}

// MadeGood implements repository.Backfills.
func (r *Backfills) MadeGood(ctx context.Context, ids []string) (map[string]bool, error) {
	return madeGood(ctx, r.c, ids)
}

// writer implements repository.BackfillWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.BackfillWriter { return &writer{c} }

// Add implements repository.BackfillWriter.
func (w *writer) Add(ctx context.Context, b entity.Backfill) error {
	spec, err := json.Marshal(b.Schedule)
	if err != nil {
		return fmt.Errorf("encode the schedule of a backfill: %w", err)
	}
	return w.c.GORM(ctx, "backfill.insert").Create(&backfillRow{
		ID: b.ID, JobID: b.JobID, FromTime: sqlvalue.DBTime(b.From), ToTime: sqlvalue.DBTime(b.To), Schedule: string(spec),
		CursorTime:  sqlvalue.DBTime(b.Cursor),
		MaxParallel: b.MaxParallel, IncludeFailed: b.IncludeFailed, Status: statusText(b),
		Planned: b.Total, AlreadyRun: b.AlreadyRun, Started: b.Started,
		OpenTimes: openTimes(b.Open), UserName: b.User, Version: 1, CreateTime: sqlvalue.DBTime(b.CreateTime),
		UpdateTime: sqlvalue.DBTime(b.UpdateTime),
	}).Error
}

// Get implements repository.BackfillWriter.
func (w *writer) Get(ctx context.Context, id string) (entity.Backfill, error) {
	return findBackfill(ctx, w.c, id)
}

// Save implements repository.BackfillWriter.
func (w *writer) Save(ctx context.Context, b entity.Backfill) error {
	n, err := w.c.Exec(ctx, "backfill.save",
		`UPDATE scheduler_backfill SET cursor_time = ?, status = ?, already_run = ?, started = ?, open_times = ?,
		update_time = ?, version = version + 1 WHERE id = ? AND version = ? AND `+isActive,
		sqlvalue.TimeArg(b.Cursor), statusText(b), b.AlreadyRun, b.Started, openTimes(b.Open),
		sqlvalue.TimeArg(b.UpdateTime), b.ID, b.Version)
	if err == nil && n == 0 {
		return apperror.Conflict("stale_version", "the backfill changed since version %d", b.Version)
	}
	return err
}

// FiresAt implements repository.BackfillWriter.
func (w *writer) FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error) {
	return firesAt(ctx, w.c, jobID, times)
}

// MadeGood implements repository.BackfillWriter.
func (w *writer) MadeGood(ctx context.Context, ids []string) (map[string]bool, error) {
	return madeGood(ctx, w.c, ids)
}

var _ repository.Backfills = (*Backfills)(nil)
