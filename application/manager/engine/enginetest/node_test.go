package enginetest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestANodeFiresAndRunsWhatTheTestSays(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	job := n.Add(t, enginetest.Job("ticks", enginetest.Every(time.Second)))
	n.Fire(t)
	n.FireAt(t, enginetest.Noon.Add(time.Second))
	execs := n.Executions(t, job.ID)
	require.Len(t, execs, 2)
	for _, exec := range execs {
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
	}
}

func TestALostReplyCommitsAndALostCommitDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		fault enginetest.Fault
		rows  int
	}{
		"lost reply":  {enginetest.LostReply, 1},
		"lost commit": {enginetest.LostCommit, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("ticks", enginetest.Every(time.Second)))
			n.Faults.Next("fire", c.fault)
			_, err := n.Planner.Scan(t.Context())
			require.NoError(t, err)
			_, err = n.Planner.FireDue(t.Context())
			require.NoError(t, err)
			require.Len(t, n.Executions(t, job.ID), c.rows)
		})
	}
}
