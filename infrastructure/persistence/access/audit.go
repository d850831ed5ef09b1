package access

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Audit keeps the audit log: repository.Audit.
type Audit struct {
	s     *sqldb.Core
	queue *auditQueue
}

// ListAudit implements repository.Audit.
func (r *Audit) ListAudit(ctx context.Context, f repository.AuditFilter,
	p repository.Page,
) ([]entity.AuditEntry, string, error) {
	before, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !sqlvalue.IsASCIIID(f.UserID) || sqlvalue.HasTrailingSpace(f.Action) || sqlvalue.HasTrailingSpace(f.Object) ||
		sqlvalue.HasTrailingSpace(f.ObjectName) {
		return nil, "", nil
	}
	lo, hi := "", before
	if !f.From.IsZero() {
		lo = identity.FloorID(f.From)
	}
	if to := identity.FloorID(f.To); !f.To.IsZero() && (hi == "" || to < hi) {
		hi = to
	}
	if f.UserID == "" && f.Action == "" && f.Object == "" && f.ObjectName == "" {
		return r.page(ctx, f, listing.IDBounds("id", lo, hi), listing.PageSize(p.Limit)) // by the key alone
	}
	narrow := listing.Equals("user_id", f.UserID)
	if f.Object != "" {
		narrow = listing.Equals("object", f.Object)
	}
	return listing.WindowScan[entity.AuditEntry]{
		Conn: r.s.Pool, Statement: "audit.list-window", Table: "scheduler_audit_log", Key: "id", Where: narrow.Text,
		Args: narrow.Args,
		Page: func(ctx context.Context, lo, hi string, limit int) ([]entity.AuditEntry, string, error) {
			return r.page(ctx, f, listing.IDBounds("id", lo, hi), limit)
		},
	}.Run(ctx, lo, hi, listing.PageSize(p.Limit))
}

// page reads matching entries, newest first.
func (r *Audit) page(ctx context.Context, f repository.AuditFilter, ids listing.Condition,
	limit int,
) ([]entity.AuditEntry, string, error) {
	where, args := listing.JoinConditions(ids, listing.Equals("user_id", f.UserID), listing.Equals("action", f.Action),
		listing.Equals("object", f.Object), listing.Equals("object_name", f.ObjectName))
	entries, err := sqldb.Collect(ctx, r.s.Pool, "audit.list",
		`SELECT id, create_time, COALESCE(user_id, ''), COALESCE(user_name, ''), COALESCE(token_id, ''),
		COALESCE(address, ''), COALESCE(request_id, ''), action, COALESCE(object, ''), COALESCE(object_name, ''), status, COALESCE(code, ''), COALESCE(changes, ''), calls
		FROM scheduler_audit_log`+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanAudit)
	if err != nil {
		return nil, "", err
	}
	entries, next := listing.CutPage(entries, limit, func(e entity.AuditEntry) string { return e.ID })
	return entries, next, nil
}

func scanAudit(rows *sql.Rows) (e entity.AuditEntry, err error) {
	var at sqlvalue.DBTime
	err = rows.Scan(&e.ID, &at, &e.UserID, &e.UserName, &e.TokenID, &e.Address, &e.RequestID, &e.Action, &e.Object,
		&e.ObjectName, &e.Status, &e.Code, &e.Changes, &e.Calls)
	e.Time = at.Time()
	return e, err
}

// PurgeAudit implements repository.Retention.
func (r *Audit) PurgeAudit(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	return r.s.PurgeByID(ctx, "audit", "scheduler_audit_log", "id < ?", limit, identity.FloorID(before))
}
