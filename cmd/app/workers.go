package app

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

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
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// watchWorkers finds workers that are gone.
func (e *Engine) watchWorkers() *workers.Watch {
	return workers.New(workers.Deps{
		Store: e.Store, Reaper: e.Runner,
		Shortest: delivery.TimingFor(0).Lease, Longest: delivery.TimingFor(math.MaxInt32).Lease,
		Lease: e.timing().Lease, Elapsed: boottime.Of(e.machine), Beaten: e.lease.Beaten,
		Logger: e.logger,
	})
}

// newGateway connects workers with the store.
func newGateway(b base, s storage, n self, c core, tasks *periodic.Tasks, runner *running.TaskManager,
	member *membership.Member, sealed *detached.Manager,
) *gateway.Gateway {
	g := gateway.New(gateway.Deps{
		NodeID: n.node.ID, Store: s.Store, Claims: s.Store, Executions: s.Store.Executions, Jobs: c.jobs,
		Logs: s.Store.Records, Workers: s.Store, Groups: s.Store.WorkerGroups, Ends: runner.Ends, Secrets: n.Secrets,
		Tokens: detached.NewIssuer(s.Store, s.keys, b.machine, s.Clock), Sealed: sealed, Expand: b.fill, Lease: c.lease,
		HoldUntil: member.HoldUntil, Clock: b.machine, StoreClock: s.Clock, Elapsed: boottime.Of(b.machine),
		Random: rand.Float64, Watch: tasks.Watch, LogLimit: entity.LogLimit, Logger: b.logger,
	})
	c.Commits.OnCommit(g.AfterCommit)
	return g
}

// maxFilled bounds the data of one run with its values in place, in bytes: an answer to a worker has at most 1 MiB.
const maxFilled = 768 << 10

// fill fills the placeholders in the data of a run, as its type of job does.
func (b base) fill(run entity.Run) (filled string, refused *entity.Outcome) {
	if run.Job.Type == entity.JobHTTP && run.Deadline.IsZero() {
		run.Deadline = b.machine.Now().Add(time.Duration(b.cfg.Executor.HTTP.TimeoutSec) * time.Second)
	}
	data, values := run.Job.Data, placeholder.Of(run)
	var faults []apperror.Field
	switch run.Job.Type {
	case entity.JobCommand:
		filled, faults = command.Fill(data, b.cfg.Executor.Command.Interpreters, values)
	case entity.JobHTTP:
		filled, faults = httpcall.Fill(data, values)
	default:
		filled, faults = jobdata.Expand(data, values)
	}
	if len(filled) > maxFilled {
		faults = append(faults, apperror.Field{
			Field: jobdata.Path, Code: "too_long",
			Message: fmt.Sprintf("its placeholders make it longer than %d KiB, which is too much for a worker", maxFilled>>10),
		})
	}
	if len(faults) == 0 {
		return filled, nil
	}
	o := jobdata.Refused(faults, apperror.Invalid(faults).Error())
	o.NoRetry = o.NoRetry || run.Job.Type == entity.JobCommand // another attempt would read the same
	return "", &o
}
