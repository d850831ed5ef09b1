package app

import (
	"math"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/workers"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
)

// watchWorkers finds workers that are gone.
func (e *Engine) watchWorkers() *workers.Watch {
	return workers.New(workers.Deps{
		Store: e.Store, Reaper: e.Runner,
		Shortest: delivery.TimingFor(0).Lease, Longest: delivery.TimingFor(math.MaxInt32).Lease,
		Lease: e.timing().Lease, Elapsed: boottime.Of(e.machine), Logger: e.logger,
	})
}
