package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Commands go to slots of their own, and only while the group may run commands; calls go to workers that offer them.
func TestAWorkerGetsCommandsAndCallsThatItMayRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w, other := r.register("a", 1, entity.HTTPHandler), r.register("b", 1, "settle")
		job := r.remoteJob("command", "", func(j *entity.Job) { j.Type, j.TimeoutSec = entity.JobCommand, 60 })
		call := r.remoteJob("call", "", func(j *entity.Job) { j.Type = entity.JobHTTP })
		command, called := r.Trigger(t, job.ID)[0], r.Trigger(t, call.ID)[0]

		require.Empty(t, other.await(other.poll()).Deliveries, "it offers neither")
		first := w.await(w.poll())
		require.Len(t, first.Deliveries, 1, "the group runs no commands")
		require.Equal(t, called.ID, first.Deliveries[0].Run.Execution.ID)
		w.ack = first.Seq
		w.running = append(w.running, delivery.Attempt{Execution: called.ID, Token: first.Deliveries[0].Run.Execution.Token})
		w.free[entity.SlotGeneral]--

		r.allow(func(g *worker.Group) { g.Commands = true })
		r.pass(func() bool {
			a := w.await(w.poll())
			w.ack = a.Seq
			if len(a.Deliveries) == 0 {
				return false
			}
			require.Equal(t, command.ID, a.Deliveries[0].Run.Execution.ID)
			require.Equal(t, job.Data+(60*time.Second).String(), a.Deliveries[0].Data, "the data may name the deadline")
			return true
		}, "the command is delivered")
	})
}
