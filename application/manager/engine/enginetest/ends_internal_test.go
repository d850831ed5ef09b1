package enginetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Each way to write an end fails the test whose transaction tells nobody.
func TestAnEndThatNobodyHearsOfIsRefused(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, tx repository.Tx, exec *entity.Execution) error{
		"insert": func(ctx context.Context, tx repository.Tx, exec *entity.Execution) error {
			exec.ID += "x"
			return errors.Join(exec.Cancel(entity.ReasonNone, Noon), tx.Executions.Insert(ctx, []*entity.Execution{exec}))
		},
		"close": func(ctx context.Context, tx repository.Tx, exec *entity.Execution) error {
			return errors.Join(exec.Cancel(entity.ReasonNone, Noon), tx.Executions.Close(ctx, []*entity.Execution{exec}))
		},
		"update": func(ctx context.Context, tx repository.Tx, exec *entity.Execution) error {
			return errors.Join(exec.Cancel(entity.ReasonNone, Noon), tx.Executions.Update(ctx, exec, entity.StatusWaiting,
				exec.Token))
		},
		"finish": func(ctx context.Context, tx repository.Tx, exec *entity.Execution) error {
			exec.Status, exec.NodeID, exec.Claim = entity.StatusRunning, "node-1", entity.RunningKey("node-1")
			if err := tx.Executions.Update(ctx, exec, entity.StatusWaiting, exec.Token); err != nil {
				return err
			}
			_, err := tx.Executions.Finish(ctx, []repository.Finish{
				{ID: "another"},
				{
					ID: exec.ID, NodeID: exec.NodeID, Epoch: exec.Epoch, Token: exec.Token, Status: entity.StatusSuccess,
					EndTime: Noon,
				},
			}, Noon)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := New(t, Options{})
			id := n.Trigger(t, n.Add(t, Job("ends", nil)).ID)[0].ID
			var said []any
			n.guard.fail = func(args ...any) { said = append(said, args...) }
			write := func(tell bool) error {
				return n.guard.Write(t.Context(), repository.LaneAPI, "silent", func(ctx context.Context, tx repository.Tx) error {
					execs, err := tx.Executions.Lock(ctx, []string{id})
					if err != nil {
						return err
					}
					if err := end(ctx, tx, execs[0]); err != nil || !tell {
						return err
					}
					return n.Admitter.RecordEnds(ctx, tx, Noon, execs)
				})
			}
			require.ErrorContains(t, write(false), `transaction "silent" ends execution `+id)
			require.Len(t, said, 1)
			require.Equal(t, entity.StatusWaiting, n.Execution(t, id).Status)
			require.NoError(t, write(true))
			require.Len(t, said, 1)
		})
	}
}
