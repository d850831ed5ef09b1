package persistence

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Audit keeps the audit log: repository.Audit.
type Audit struct {
	s     *core
	queue *auditQueue
}

// ListAudit implements repository.Audit.
func (r *Audit) ListAudit(ctx context.Context, f repository.AuditFilter, p repository.Page) ([]entity.AuditEntry, string, error) {
	before, err := readCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !plain(f.UserID) || padded(f.Action) || padded(f.Object) || padded(f.ObjectName) {
		return nil, "", nil
	}
	lo, hi := "", before
	if !f.From.IsZero() {
		lo = identity.FloorID(f.From)
	}
	if to := identity.FloorID(f.To); !f.To.IsZero() && (hi == "" || to < hi) {
		hi = to
	}
	narrow := equals("user_id", f.UserID)
	if f.Object != "" {
		narrow = equals("object", f.Object)
	}
	return walk[entity.AuditEntry]{
		c: r.s.read, statement: "audit.list-window", table: "scheduler_audit_log", key: "id", where: narrow.text, args: narrow.args,
		page: func(ctx context.Context, lo, hi string, limit int) ([]entity.AuditEntry, string, error) {
			return r.page(ctx, f, idBounds("id", lo, hi), limit)
		},
	}.run(ctx, lo, hi, pageSize(p.Limit))
}

// page reads matching entries, newest first.
func (r *Audit) page(ctx context.Context, f repository.AuditFilter, ids condition, limit int) ([]entity.AuditEntry, string, error) {
	where, args := joinConditions(ids, equals("user_id", f.UserID), equals("action", f.Action), equals("object", f.Object), equals("object_name", f.ObjectName))
	entries, err := collect(ctx, r.s.read, "audit.list", `SELECT id, create_time, COALESCE(user_id, ''), COALESCE(user_name, ''), COALESCE(token_id, ''),
		COALESCE(address, ''), COALESCE(request_id, ''), action, COALESCE(object, ''), COALESCE(object_name, ''), status, COALESCE(code, ''), COALESCE(changes, ''), calls
		FROM scheduler_audit_log`+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanAudit)
	if err != nil {
		return nil, "", err
	}
	entries, next := cutPage(entries, limit, func(e entity.AuditEntry) string { return e.ID })
	return entries, next, nil
}

func scanAudit(rows *sql.Rows) (e entity.AuditEntry, err error) {
	var at stamp
	err = rows.Scan(&e.ID, &at, &e.UserID, &e.UserName, &e.TokenID, &e.Address, &e.RequestID, &e.Action, &e.Object, &e.ObjectName, &e.Status, &e.Code, &e.Changes, &e.Calls)
	e.Time = at.time()
	return e, err
}

// PurgeAudit implements repository.Retention.
func (r *Audit) PurgeAudit(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	return r.s.purge(ctx, "audit", "scheduler_audit_log", "id < ?", limit, identity.FloorID(before))
}
