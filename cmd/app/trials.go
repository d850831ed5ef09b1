package app

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// newTrials makes what runs drafts of jobs here, by the executors that run stored ones.
func (e *Engine) newTrials(runner trial.Runner, node entity.Node) *trial.Trials {
	if !node.Has(entity.RoleExecutor) {
		runner = nil
	}
	return trial.New(trial.Deps{
		Checker: e.Jobs, Runner: runner, Clock: e.machine, StoreClock: e.Clock, NodeID: node.ID,
	})
}
