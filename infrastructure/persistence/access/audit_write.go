package access

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// auditQueue collects entries while one transaction writes others: calls that
// end at the same time share a commit, which is what costs. Safe for
// concurrent use.
type auditQueue struct {
	// turn is held by the one that writes.
	turn    chan struct{}
	mu      sync.Mutex
	waiting []*auditWait
}

// auditWait is an entry and what became of it.
type auditWait struct {
	entry entity.AuditEntry
	done  chan error
}

// maxAuditBatch bounds the entries of one transaction, each of at most some 64 KiB.
const maxAuditBatch = 64

// errAlone tells an entry that those it was written with did not get in: it is
// to be written by itself.
var errAlone = errors.New("written alone")

func newAuditQueue() *auditQueue { return &auditQueue{turn: make(chan struct{}, 1)} }

// take hands out what waits, at most a batch.
func (q *auditQueue) take() []*auditWait {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxAuditBatch)
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// leave takes an entry back that nobody has begun to write.
func (q *auditQueue) leave(w *auditWait) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(slices.Clone(q.waiting), func(other *auditWait) bool { return other == w })
}

// AddAudit implements repository.Audit. It returns when the entry is stored.
func (r *Audit) AddAudit(ctx context.Context, e entity.AuditEntry) error {
	if err := sqlvalue.CheckTexts(e.ID, "", "", e.UserName, e.Address, e.Action, e.Object, e.ObjectName,
		e.Changes); err != nil {
		return err
	}
	w := &auditWait{entry: e, done: make(chan error, 1)}
	r.queue.mu.Lock()
	r.queue.waiting = append(r.queue.waiting, w)
	r.queue.mu.Unlock()
	for {
		select {
		case err := <-w.done:
			if errors.Is(err, errAlone) {
				return r.write(ctx, []*auditWait{w})
			}
			return err
		case r.queue.turn <- struct{}{}:
			r.writeWaiting(ctx)
			<-r.queue.turn
		case <-ctx.Done():
			r.queue.leave(w)
			return r.s.Dialect.Unavailable(ctx.Err())
		}
	}
}

// writeWaiting writes what waits; when that fails, each entry is told to go
// alone, because one may be at fault for all, or this call's time may be over.
func (r *Audit) writeWaiting(ctx context.Context) {
	batch := r.queue.take()
	if len(batch) == 0 {
		return
	}
	err := r.write(ctx, batch)
	if err != nil && len(batch) > 1 {
		err = errAlone
	}
	for _, w := range batch {
		w.done <- err
	}
}

func (r *Audit) write(ctx context.Context, batch []*auditWait) error {
	return r.s.Change(ctx, repository.LaneAPI, "audit-add", func(ctx context.Context, c *sqldb.Conn) error {
		return bulk.Insert(ctx, c, "audit.insert",
			"scheduler_audit_log (id, create_time, user_id, user_name, token_id, address, request_id, action, object, "+
				"object_name, status, code, changes, calls)", 14, "",
			batch, func(args []any, w *auditWait) []any {
				e := w.entry
				return append(args, e.ID, sqlvalue.TimeArg(e.Time), sqlvalue.TextOrNull(e.UserID), sqlvalue.TextOrNull(e.UserName),
					sqlvalue.TextOrNull(e.TokenID), sqlvalue.TextOrNull(e.Address),
					sqlvalue.TextOrNull(e.RequestID), e.Action, sqlvalue.TextOrNull(e.Object), sqlvalue.TextOrNull(e.ObjectName),
					e.Status, sqlvalue.TextOrNull(e.Code), sqlvalue.TextOrNull(e.Changes), max(e.Calls, 1))
			})
	})
}
