package app

import (
	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/worker"
	service "github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// newWorkerEdge makes what the routes of workers need. gateway is nil on a node that serves no workers.
func newWorkerEdge(b base, s storage, gateway worker.Gateway) api.WorkerDeps {
	timing := func() delivery.Timing { return delivery.TimingFor(0) }
	if gateway != nil {
		timing = gateway.Timing
	}
	clock := storeTime{b.machine, s.Clock}
	tokens := service.NewAuthenticator(s.Store.WorkerGroups, clock)
	return api.WorkerDeps{
		Workers: service.NewWorkerService(service.Deps{
			Workers: s.Store, Groups: s.Store.WorkerGroups, Timing: timing, Clock: clock, Logger: b.logger,
		}),
		Groups: service.NewGroupService(s.Store.WorkerGroups, tokens, clock), Tokens: tokens, Gateway: gateway,
		AllowPlain: b.cfg.Worker.AllowPlain, Called: b.Metrics.WorkerCalled,
	}
}
