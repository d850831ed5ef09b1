package repository

import "context"

// ChainEdge says that a job starts another one. Deleted jobs start none.
type ChainEdge struct{ JobID, NextID string }

// ChainReader reads which jobs start which others.
type ChainReader interface {
	// EdgesFrom are those of jobs that start others, EdgesTo those of jobs that are started, in no order.
	EdgesFrom(ctx context.Context, jobIDs []string) ([]ChainEdge, error)
	EdgesTo(ctx context.Context, jobIDs []string) ([]ChainEdge, error)
}

// ChainWriter keeps them, inside a transaction.
type ChainWriter interface {
	ChainReader
	// LockChains lets one transaction at a time change edges, and makes the schema refuse programs that are older than a
	// schema version. known reports whether it did so before.
	LockChains(ctx context.Context, schema int64) (known bool, err error)
	// SetNext puts these edges of a job in the place of those it has.
	SetNext(ctx context.Context, jobID string, nextIDs []string) error
}
