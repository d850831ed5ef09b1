// Package chain holds the register of which jobs start which others.
package chain

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Chains reads the register: repository.ChainReader.
type Chains struct{ c *sqldb.Conn }

// New gives the repository over the connections of c.
func New(c *sqldb.Conn) *Chains { return &Chains{c} }

// EdgesFrom implements repository.ChainReader.
func (r *Chains) EdgesFrom(ctx context.Context, jobIDs []string) ([]repository.ChainEdge, error) {
	return r.edges(ctx, "chain.from", "job_id", jobIDs)
}

// EdgesTo implements repository.ChainReader.
func (r *Chains) EdgesTo(ctx context.Context, jobIDs []string) ([]repository.ChainEdge, error) {
	return r.edges(ctx, "chain.to", "next_id", jobIDs)
}

func (r *Chains) edges(ctx context.Context, name, column string, ids []string) ([]repository.ChainEdge, error) {
	return sqldb.CollectIn(ctx, r.c, name, "SELECT job_id, next_id FROM scheduler_job_next WHERE {in}", column,
		sqlvalue.OnlyASCIIIDs(ids), func(rows *sql.Rows) (e repository.ChainEdge, err error) {
			err = rows.Scan(&e.JobID, &e.NextID)
			return e, err
		})
}

// writer implements repository.ChainWriter.
type writer struct{ Chains }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.ChainWriter { return &writer{Chains{c}} }

// LockChains implements repository.ChainWriter. The row that it writes is the lock.
func (w *writer) LockChains(ctx context.Context, schema int64) (known bool, err error) {
	return w.c.DemandSchema(ctx, schema)
}

// SetNext implements repository.ChainWriter.
func (w *writer) SetNext(ctx context.Context, jobID string, nextIDs []string) error {
	if _, err := w.c.Exec(ctx, "chain.clear", "DELETE FROM scheduler_job_next WHERE job_id = ?", jobID); err != nil {
		return err
	}
	nextIDs = slices.Clone(nextIDs)
	slices.Sort(nextIDs)
	err := bulk.Insert(ctx, w.c, "chain.insert", "scheduler_job_next (job_id, next_id)", 2,
		w.c.Dialect.OnDuplicateKeep("job_id"), slices.Compact(nextIDs), func(args []any, id string) []any {
			return append(args, jobID, id)
		})
	if err != nil {
		return fmt.Errorf("register what job %s starts: %w", jobID, err)
	}
	return nil
}
