package app

import (
	"math"
	"math/rand/v2"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/workers"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// watchWorkers finds workers that are gone.
func (e *Engine) watchWorkers() *workers.Watch {
	return workers.New(workers.Deps{
		Store: e.Store, Reaper: e.Runner,
		Shortest: delivery.TimingFor(0).Lease, Longest: delivery.TimingFor(math.MaxInt32).Lease,
		Lease: e.timing().Lease, Elapsed: boottime.Of(e.machine), Logger: e.logger,
	})
}

// newGateway connects workers with the store.
func newGateway(b base, s storage, n self, c core, tasks *periodic.Tasks, runner *running.TaskManager,
	member *membership.Member, sealed *detached.Manager,
) *gateway.Gateway {
	g := gateway.New(gateway.Deps{
		NodeID: n.node.ID, Store: s.Store, Claims: s.Store, Executions: s.Store.Executions, Jobs: c.jobs,
		Logs: s.Store.Records, Workers: s.Store, Groups: s.Store.WorkerGroups, Ends: runner.Ends, Secrets: n.Secrets,
		Tokens: detached.NewIssuer(s.Store, s.keys, b.machine, s.Clock), Sealed: sealed, Expand: expand, Lease: c.lease,
		HoldUntil: member.HoldUntil, Clock: b.machine, StoreClock: s.Clock, Elapsed: boottime.Of(b.machine),
		Random: rand.Float64, Watch: tasks.Watch, LogLimit: entity.LogLimit, Logger: b.logger,
	})
	c.Commits.OnCommit(g.AfterCommit)
	return g
}

// expand fills the placeholders in the data of a handler's run.
func expand(run entity.Run) (data string, refused *entity.Outcome) {
	data, faults := jobdata.Expand(run.Job.Data, placeholder.Of(run))
	if len(faults) > 0 {
		o := jobdata.Refused(faults, apperror.Invalid(faults).Error())
		return "", &o
	}
	return data, nil
}
