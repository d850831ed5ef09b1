package enginetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// endGuard is an observer of ends and a store at once. It fails the test when a
// transaction makes an execution final and the observers do not hear of it there.
// So every test of the engine holds the promise of event.Ends. Safe for
// concurrent use.
type endGuard struct {
	repository.Store
	// fail ends the test.
	fail func(args ...any)

	mu sync.Mutex
	// observed are the ends that the observers heard of and that no transaction has stored yet.
	observed map[string]bool
}

func newEndGuard(store repository.Store, fail func(args ...any)) *endGuard {
	return &endGuard{Store: store, fail: fail, observed: map[string]bool{}}
}

// Ended implements event.EndObserver.
func (g *endGuard) Ended(ended []*entity.Execution, _ time.Time) (none event.EndRows) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range ended {
		g.observed[e.ID] = true
	}
	return none
}

// Write implements repository.Store.
func (g *endGuard) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return g.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		final := &finalWrites{ExecutionWriter: tx.Executions}
		tx.Executions = final
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return g.check(name, final.ids)
	})
}

func (g *endGuard) check(name string, ids []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		if !g.observed[id] {
			err := fmt.Errorf("transaction %q ends execution %s, and does not tell the observers", name, id)
			g.fail(err)
			return err
		}
		delete(g.observed, id)
	}
	return nil
}

// finalWrites notes the executions that a transaction makes final.
type finalWrites struct {
	repository.ExecutionWriter
	ids []string
}

func (f *finalWrites) note(execs ...*entity.Execution) {
	for _, exec := range execs {
		if exec.Status.Final() {
			f.ids = append(f.ids, exec.ID)
		}
	}
}

// Insert implements repository.ExecutionWriter.
func (f *finalWrites) Insert(ctx context.Context, execs []*entity.Execution) error {
	f.note(execs...)
	return f.ExecutionWriter.Insert(ctx, execs)
}

// Close implements repository.ExecutionWriter.
func (f *finalWrites) Close(ctx context.Context, execs []*entity.Execution) error {
	f.note(execs...)
	return f.ExecutionWriter.Close(ctx, execs)
}

// Update implements repository.ExecutionWriter.
func (f *finalWrites) Update(ctx context.Context, exec *entity.Execution, from entity.Status, token int64) error {
	f.note(exec)
	return f.ExecutionWriter.Update(ctx, exec, from, token)
}

// Finish implements repository.ExecutionWriter.
func (f *finalWrites) Finish(ctx context.Context, ends []repository.Finish, now time.Time) (refused []int, err error) {
	refused, err = f.ExecutionWriter.Finish(ctx, ends, now)
	next := 0
	for i, end := range ends {
		if next < len(refused) && refused[next] == i {
			next++
			continue
		}
		f.ids = append(f.ids, end.ID)
	}
	return refused, err
}
