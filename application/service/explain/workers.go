package explain

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// maxWorkers bounds the workers that an answer counts.
const maxWorkers = 1000

// workers tells what the job asks of a worker, and how many of its group could run it.
func (c *inquiry) workers(ctx context.Context, class entity.NodeClass) error {
	all, err := c.Workers.WorkersOf(ctx, class.Workers, maxWorkers)
	if err != nil {
		return err
	}
	group, err := c.WorkerGroups.WorkerGroup(ctx, class.Workers)
	if err != nil && !apperror.Is(err, apperror.KindNotFound) {
		return err
	}
	c.asked(class)
	kind := class.Kind()
	up, fit, free, slots := 0, 0, 0, 0
	for i := range all {
		w := &all[i]
		if w.Status != worker.Up {
			continue
		}
		up++
		if routing.MissingWorker(class, w) != entity.WaitNone || !group.Runs(c.job) {
			continue
		}
		fit++
		slots += w.Slots[kind]
		free += max(w.Slots[kind]-w.Running[kind], 0)
	}
	c.add(FactWorkers, class.Workers, Params{
		"workers": class.Workers, "count": up, "fit": fit, "free": free, "slots": slots,
	})
	switch named := (Params{"workers": class.Workers, "group": c.job.Group}); {
	case !group.Serves(c.job.Group):
		c.add(FactWorkersForeign, "", named)
	case !group.Runs(c.job):
		c.add(FactWorkersRefuse, "", named)
	case !group.Secrets && len(placeholder.SecretNames(c.job.Data)) > 0:
		c.add(FactWorkersBlind, "", named)
	}
	return nil
}
