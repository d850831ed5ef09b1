package alerting

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// helpless writes an item that the store refuses, and holds up nothing else. It first reduces the alerts. If the store
// refuses that too, it writes no alerts, but a row that names the item. write raises the alerts of the offender, and
// take does the rest of its transaction; nil is nothing.
func (e *Evaluator) helpless(ctx context.Context, a entity.SetAside, cause error, write func(ctx context.Context,
	tx repository.Tx) error, take func(ctx context.Context, tx repository.Tx) error,
) (raised bool, err error) {
	name := "alert-aside"
	err = batch.Guard(func() error {
		return e.Store.Write(ctx, repository.LaneAPI, name, func(ctx context.Context, tx repository.Tx) error {
			return write(ctx, episode.Reducing(tx))
		})
	})
	if err == nil {
		e.Aside.Reduced(a.Kind, a.ID, cause)
		return true, nil
	}
	if batch.Passes(err) {
		return false, err
	}
	a.State, a.Reason, a.Time = entity.AsideMissing, err.Error(), e.Clock.Now()
	err = e.Store.Write(ctx, repository.LaneAPI, name, func(ctx context.Context, tx repository.Tx) error {
		if take != nil {
			if err := take(ctx, tx); err != nil {
				return err
			}
		}
		return tx.Records.SetAside(ctx, a)
	})
	if err != nil {
		return false, fmt.Errorf("set aside %s %s: %w", a.Kind, a.ID, err)
	}
	e.Aside.Note(a)
	return false, nil
}
