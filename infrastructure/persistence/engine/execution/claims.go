package execution

import (
	"context"
	"database/sql"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Claims answers questions to the claim index: repository.ClaimReader.
type Claims struct{ c *sqldb.Conn }

// NewClaims gives the repository over the connections of c.
func NewClaims(c *sqldb.Conn) *Claims { return &Claims{c} }

// Range implements repository.ClaimReader.
func (r *Claims) Range(ctx context.Context, q repository.ClaimRange) ([]*entity.Execution, error) {
	where, args := claimWhere(q)
	return sqldb.Collect(ctx, r.c, "claim.range",
		SelectExecutions+r.c.Dialect.ByClaim+where+" ORDER BY claim_key, id LIMIT ?", append(args, q.Limit), ScanExecution)
}

// CountRange implements repository.ClaimReader.
func (r *Claims) CountRange(ctx context.Context, q repository.ClaimRange) (int, error) {
	where, args := claimWhere(q)
	return r.c.Number(ctx, "claim.count", "SELECT COUNT(*) FROM (SELECT 1 AS one FROM scheduler_job_execution"+
		r.c.Dialect.ByClaim+where+" LIMIT ?) counted", append(args, q.Limit)...)
}

func claimWhere(q repository.ClaimRange) (string, []any) {
	where, args := " WHERE claim_key >= ? AND claim_key < ?", []any{string(q.Lo), string(q.Hi)}
	if q.AfterID != "" {
		where += " AND (claim_key > ? OR id > ?)"
		args = append(args, string(q.Lo), q.AfterID)
	}
	if !q.DeadlineBefore.IsZero() {
		where += " AND start_deadline < ?"
		args = append(args, sqlvalue.TimeArg(q.DeadlineBefore))
	}
	if q.CancelRequested {
		where += " AND cancel_requested = 1"
	}
	return where, args
}

// First implements repository.ClaimReader.
func (r *Claims) First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	return r.one(ctx, "claim.first", "", lo, hi)
}

// Last implements repository.ClaimReader.
func (r *Claims) Last(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	return r.one(ctx, "claim.last", " DESC", lo, hi)
}

func (r *Claims) one(ctx context.Context, name, order string, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	keys, err := sqldb.Collect(ctx, r.c, name, "SELECT claim_key FROM scheduler_job_execution"+r.c.Dialect.ByClaim+
		" WHERE claim_key >= ? AND claim_key < ? ORDER BY claim_key"+order+" LIMIT 1", []any{string(lo), string(hi)},
		sqlvalue.ScanText)
	if err != nil || len(keys) == 0 {
		return "", err
	}
	return entity.ClaimKey(keys[0]), nil
}

// WaitingOf implements repository.ClaimReader.
func (r *Claims) WaitingOf(ctx context.Context, jobID string, limit int) ([]string, error) {
	if !sqlvalue.IsASCIIID(jobID) {
		return nil, nil
	}
	all := entity.AllClaims()
	return sqldb.Collect(ctx, r.c, "claim.waiting-of", "SELECT id FROM scheduler_job_execution"+r.c.Dialect.ByClaim+
		" WHERE claim_key >= ? AND claim_key < ? AND job_id = ? AND status = 'WAITING' LIMIT ?",
		[]any{string(all.Lo), string(all.Hi), jobID, limit}, sqlvalue.ScanText)
}

// OpenOf implements repository.ClaimReader.
func (r *Claims) OpenOf(ctx context.Context, jobID string) ([]string, error) {
	if !sqlvalue.IsASCIIID(jobID) {
		return nil, nil
	}
	return sqldb.Collect(ctx, r.c, "claim.open-of", "SELECT id FROM scheduler_job_execution"+r.c.Dialect.ByClaim+
		" WHERE claim_key = ? AND job_id = ?", []any{string(entity.OpenKey()), jobID}, sqlvalue.ScanText)
}

const heldColumns = "SELECT id, job_id, node_id, status, token, attempt, epoch, cancel_requested, reason FROM " +
	"scheduler_job_execution"

func scanHeld(rows *sql.Rows) (*entity.Execution, error) {
	e := &entity.Execution{}
	var cancel sql.NullInt64
	var reason sql.NullString
	err := rows.Scan(&e.ID, &e.JobID, &e.NodeID, &e.Status, &e.Token, &e.Attempt, &e.Epoch, &cancel, &reason)
	e.Claim, e.CancelRequested, e.Reason = entity.RunningKey(e.NodeID), cancel.Int64 != 0, entity.Reason(reason.String)
	return e, err
}

// Held implements repository.ClaimReader.
func (r *Claims) Held(ctx context.Context, nodeID string) ([]*entity.Execution, error) {
	return sqldb.Collect(ctx, r.c, "claim.held", heldColumns+r.c.Dialect.ByClaim+" WHERE claim_key = ? ORDER BY id",
		[]any{string(entity.RunningKey(nodeID))}, scanHeld)
}

// fewHolders is how many holders are asked for by name: a probe of the index each.
const fewHolders = 100

// HeldByAll implements repository.ClaimReader.
func (r *Claims) HeldByAll(ctx context.Context, workerIDs []string) ([]*entity.Execution, error) {
	if len(workerIDs) > fewHolders {
		// Most hold nothing: who does is read from the index alone. A run that begins in between is one that began after
		// the call.
		holders, err := r.HeldBy(ctx, entity.WorkerHeldSpan())
		if err != nil || len(holders) == 0 {
			return nil, err
		}
		asked := make(map[string]bool, len(workerIDs))
		for _, id := range workerIDs {
			asked[id] = true
		}
		workerIDs = slices.DeleteFunc(holders, func(id string) bool { return !asked[id] })
	}
	keys := convert.All(workerIDs, func(id string) string { return string(entity.RunningKey(id)) })
	return sqldb.CollectIn(ctx, r.c, "claim.held-by-all", heldColumns+r.c.Dialect.ByClaim+" WHERE {in}", "claim_key", keys,
		scanHeld)
}

// HeldBy implements repository.ClaimReader.
func (r *Claims) HeldBy(ctx context.Context, span entity.ClaimSpan) ([]string, error) {
	keys, err := sqldb.Collect(ctx, r.c, "claim.held-by", "SELECT DISTINCT claim_key FROM scheduler_job_execution"+
		r.c.Dialect.ByClaim+" WHERE claim_key >= ? AND claim_key < ? ORDER BY claim_key",
		[]any{string(span.Lo), string(span.Hi)}, sqlvalue.ScanText)
	return convert.All(keys, func(key string) string { return entity.ClaimKey(key).Holder() }), err
}
