package app

import (
	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/worker"
	service "github.com/platform-scheduler/platform-scheduler/application/service/worker"
)

// newWorkerEdge makes what the routes of workers need.
func newWorkerEdge(b base, s storage, g worker.Gateway) api.WorkerDeps {
	clock := storeTime{b.machine, s.Clock}
	tokens := service.NewAuthenticator(s.Store.WorkerGroups, clock)
	return api.WorkerDeps{
		Workers: service.NewWorkerService(service.Deps{
			Workers: s.Store, Groups: s.Store.WorkerGroups, Timing: g.Timing, Clock: clock, Logger: b.logger,
		}),
		Groups: service.NewGroupService(service.GroupDeps{
			Groups: s.Store.WorkerGroups, Nodes: s.Store, Release: Version(), Auth: tokens, Clock: clock,
		}),
		Tokens: tokens, Gateway: g,
		AllowPlain: b.cfg.Worker.AllowPlain, Called: b.Metrics.WorkerCalled,
	}
}
