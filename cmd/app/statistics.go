package app

import (
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring/missed"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// addUp makes the parts that add ends of executions up, and those that read the sums.
func (e *Engine) addUp() error {
	zone, err := time.LoadLocation(e.cfg.Server.TimeZone)
	if err != nil {
		return fmt.Errorf("server.timeZone: %w", err)
	}
	e.fold = monitoring.NewFold(monitoring.FoldDeps{
		Store: e.Store, Digests: e.Store.Statistics, Clock: e.machine, StoreClock: e.Clock, Zone: zone,
		Readers: e.events.readers, Told: e.events.added, Logger: e.logger,
		Succeeded: e.succeeded,
	})
	e.missed = missed.New(missed.Deps{
		Store: e.Store, Rows: e.Store.Executions, Ends: e.Store.Statistics, Former: e.former, Clock: e.machine,
		StoreClock: e.Clock, Logger: e.logger,
	})
	e.Statistics = statistics.NewStatisticsService(statistics.Deps{
		Sums: e.Store.Statistics, Baselines: e.Store.Statistics, Jobs: e.Store.Jobs, Clock: e.Clock, Zone: zone,
	})
	e.zone = zone
	e.usual = monitoring.NewUsual(monitoring.UsualDeps{
		Baselines: e.Store.Statistics, Clock: e.machine, Zone: zone, Logger: e.logger,
	})
	e.slow = monitoring.NewSlow(monitoring.SlowDeps{
		Attempts: e.Runner, Usual: e.usual, Store: e.Store, Clock: e.Clock, Readers: e.events.readers, Told: e.events.added,
	})
	return nil
}

// former tells whether a node of the former release is alive, and whether one is known. Until the view has this node,
// one might be.
func (e *Engine) former() (alive, known bool) {
	nodes := e.Member.Nodes()
	for i := range nodes {
		if !nodes[i].Publishes() {
			known = true
			alive = alive || nodes[i].Status != entity.NodeDown
		}
	}
	return alive, known || len(nodes) == 0
}

// statisticsTrouble is why statistics lack ends.
func (e *Engine) statisticsTrouble() (reason string, blocks bool) {
	if reason, blocks = e.fold.Behind(); reason != "" {
		return reason, blocks
	}
	return e.missed.Behind()
}
