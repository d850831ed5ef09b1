package routing

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// MissingWorker is what a worker lacks for a class: its group, its labels or slots of the kind (WaitWorker), or the
// handler; WaitNone when it is fit. It says nothing of the worker's state and load.
func MissingWorker(c entity.NodeClass, w *worker.Worker) entity.Wait {
	switch {
	case c.Workers != w.Group || !Match(c.Labels, w.Labels) || w.Slots[c.Kind()] < 1:
		return entity.WaitWorker
	case c.Handler != "" && !w.Offers(c.Handler):
		return entity.WaitHandler
	}
	return entity.WaitNone
}

// UnfitWorkers is what keeps all of the workers from taking runs of a class; WaitNone when one of them can. Workers
// that are down or drain count for nothing. Where one has the labels, the handler is what is missing.
func UnfitWorkers(c entity.NodeClass, workers []worker.Worker) entity.Wait {
	missing := entity.WaitWorker
	for i := range workers {
		if workers[i].Status != worker.Up {
			continue
		}
		switch lacks := MissingWorker(c, &workers[i]); lacks {
		case entity.WaitNone:
			return lacks
		case entity.WaitHandler:
			missing = lacks
		}
	}
	return missing
}

// BroadcastToWorkers is Broadcast over workers: those that are up and fit for the class, by id. A suspect is among
// them, and one that drains is not.
func BroadcastToWorkers(workers []worker.Worker, class entity.NodeClass) []string {
	var ids []string
	for i := range workers {
		if w := &workers[i]; w.Status == worker.Up && MissingWorker(class, w) == entity.WaitNone {
			ids = append(ids, w.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// WorkerCandidate is a worker as the strategies see it. One that has missed beats is a suspect.
func WorkerCandidate(w *worker.Worker, kind entity.SlotKind, now time.Time) Candidate {
	status := entity.NodeUp
	switch {
	case w.Status == worker.Down:
		status = entity.NodeDown
	case w.Status == worker.Draining:
		status = entity.NodeDraining
	case w.Suspect(now):
		status = entity.NodeSuspect
	}
	n := entity.Node{
		ID: w.ID, Status: status, Roles: []string{entity.RoleExecutor}, Running: w.Running[kind],
		Slots: w.Slots[kind], LastHeartbeat: w.LastBeat, HandlersHash: worker.HandlersHash(w.Handlers),
	}
	return Candidate{Node: n, Weight: w.Weight}
}
