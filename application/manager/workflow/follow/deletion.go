package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// split takes the rows of deleted workflows from those of runs.
func split(todos []entity.Todo) (runs, deletions []entity.Todo) {
	for _, t := range todos {
		if t.Item == wf.OwesEnds {
			deletions = append(deletions, t)
		} else {
			runs = append(runs, t)
		}
	}
	return runs, deletions
}

// endRuns lets the open runs of deleted workflows end, and drops the row of a deletion with the last part of them. A
// root that opens later meets the deletion when its run is decided about first. A deletion that fails holds up no
// other, and stays for the leader. owed says that runs now owe their end.
func (f *Follower) endRuns(ctx context.Context, deletions []entity.Todo) (owed bool, err error) {
	for _, d := range deletions {
		err := batch.Guard(func() error {
			runs, err := f.endRunsOf(ctx, d)
			owed = owed || runs > 0
			return err
		})
		if err != nil && batch.Passes(err) {
			return owed, err
		}
		if err != nil {
			f.Logger.Error("the runs of a deleted workflow cannot be ended yet", "workflow", d.Run, "error", err)
		}
	}
	return owed, nil
}

func (f *Follower) endRunsOf(ctx context.Context, deletion entity.Todo) (runs int, err error) {
	roots, err := f.Claims.OpenOf(ctx, deletion.Run)
	if err != nil {
		return 0, fmt.Errorf("find the open runs of the deleted workflow %s: %w", deletion.Run, err)
	}
	now := f.StoreClock.Now()
	todos := convert.All(roots, func(root string) entity.Todo { return wf.Todo(root, wf.OwesDelete, now) })
	parts := slices.Collect(slices.Chunk(todos, todosAtOnce))
	for i := range max(len(parts), 1) {
		write := func(ctx context.Context, tx repository.Tx) error {
			if len(parts) > 0 {
				if err := tx.Todos.AddTodos(ctx, parts[i]); err != nil {
					return err
				}
			}
			if i < len(parts)-1 {
				return nil
			}
			_, err := tx.Todos.DropTodos(ctx, []entity.Todo{deletion})
			return err
		}
		if err := f.Store.Write(ctx, repository.LaneComplete, "follow-deleted", write); err != nil {
			return 0, fmt.Errorf("end the open runs of the deleted workflow %s: %w", deletion.Run, err)
		}
	}
	return len(roots), nil
}
