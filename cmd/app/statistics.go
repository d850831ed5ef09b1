package app

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring/missed"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// monitored are the parts that add ends of executions up, and find what is unusual.
type monitored struct {
	fold   *monitoring.Fold
	missed *missed.Search
	slow   *monitoring.Slow
}

func newMonitored(b base, s storage, x *exports, w work, a alerts, eventsAdded func()) monitored {
	usual := monitoring.NewUsual(monitoring.UsualDeps{
		Baselines: s.Store.Statistics, Clock: b.machine, Zone: b.zone, Logger: b.logger,
	})
	return monitored{
		monitoring.NewFold(monitoring.FoldDeps{
			Store: s.Store, Digests: s.Store.Statistics, Clock: b.machine, StoreClock: s.Clock, Zone: b.zone,
			Readers: x.readers, EventsAdded: eventsAdded, Succeeded: a.loop.Succeeded, Aside: a.book, Logger: b.logger,
		}),
		missed.New(missed.Deps{
			Store: s.Store, Rows: s.Store.Executions, Ends: s.Store.Statistics, Former: w.former, Clock: b.machine,
			StoreClock: s.Clock, Logger: b.logger,
		}),
		monitoring.NewSlow(monitoring.SlowDeps{
			Attempts: w.Runner, Usual: usual, Store: s.Store, Clock: s.Clock, Readers: x.readers, EventsAdded: eventsAdded,
		}),
	}
}

// former tells whether a node of the former release is alive, and whether one is known. Until the view has this node,
// one might be.
func (w work) former() (alive, known bool) {
	nodes := w.Member.Nodes()
	for i := range nodes {
		if !nodes[i].Publishes() {
			known = true
			alive = alive || nodes[i].Status != entity.NodeDown
		}
	}
	return alive, known || len(nodes) == 0
}

// statisticsTrouble is why statistics lack ends.
func (m monitored) statisticsTrouble() (reason string, blocks bool) {
	if reason, blocks = m.fold.Behind(); reason != "" {
		return reason, blocks
	}
	return m.missed.Behind()
}
