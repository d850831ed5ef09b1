package follow_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// taught notes what digests say of ends: what a baseline would learn.
type taught struct {
	mu   sync.Mutex
	ends map[string]bool
}

func (s *taught) Ended(ended []*entity.Execution, now time.Time) (rows event.EndRows) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range ended {
		asked := *e
		asked.Trigger = entity.TriggerSchedule // as if the schedule had asked for it
		digests, _ := statistics.Encode([]*entity.Execution{&asked}, now)
		read, _ := statistics.Decode(digests[0].Data)
		_, s.ends[e.ID] = baseline.RunOf(&read[0], time.UTC)
	}
	return rows
}

func (s *taught) by(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends[id]
}

// How long a run takes that people let stand says nothing about the next one: it was paused, a step was held, or an
// approval waited. All others teach what is usual.
func TestARunThatWaitedForPeopleTeachesNothing(t *testing.T) {
	held := `{"onStepFailure": "HOLD", "steps": [` + custom("a", "") + "," + custom("b", `"needs": ["a"]`) + "]}"
	act := func(t *testing.T, n *enginetest.Node, root, workflowID string) {
		goOn(t, n, func() bool {
			e := stepRow(t, n, root, workflowID, "a")
			return e != nil && e.Status == entity.StatusFailed && len(owed(t, n)) == 0
		}, "the step is held")
		require.NoError(t, n.Flow.Act(t.Context(), root, "a", workflow.Succeed))
	}
	for name, c := range map[string]struct {
		steps   string
		fails   bool
		people  func(t *testing.T, n *enginetest.Node, root, workflowID string)
		teaches bool
	}{
		"nobody is asked": {steps: stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`)), teaches: true},
		"a step is held":  {steps: held, fails: true, people: act},
		"it is paused": {
			steps: stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`)),
			people: func(t *testing.T, n *enginetest.Node, root, _ string) {
				awaitStarts(t, n, 1)
				require.NoError(t, n.Flow.Command(t.Context(), root, workflow.Pause))
				require.NoError(t, n.Flow.Command(t.Context(), root, workflow.Resume))
			},
		},
		"an approval waits": {
			steps: stepsOf(`{"name": "ok", "approval": {"users": ["ann"]}}`),
			people: func(t *testing.T, n *enginetest.Node, root, workflowID string) {
				open := awaitApproval(t, n, root, workflowID)
				ballots, err := n.Store.ApprovalsOf(t.Context(), []string{open.ID})
				require.NoError(t, err)
				require.NoError(t, cast(t, n, open, ballots[0].Voters[0], wf.Approved))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := &taught{ends: map[string]bool{}}
			n := enginetest.New(t, enginetest.Options{Ends: []event.EndObserver{seen}})
			n.Start(t)
			people(t, n, map[string]entity.Role{"ann": "viewer"})
			if c.fails {
				byStep(n, map[string]entity.Outcome{"a": entity.Failed(entity.ReasonError, "no")})
			}
			release := func() {}
			if !c.fails {
				release = n.Script.Hold()
			}
			job := n.Add(t, flowJob("waits", c.steps, nil))
			root := fire(t, n, job)
			if c.people != nil {
				c.people(t, n, root, job.ID)
			}
			release()
			follow(t, n, root, entity.StatusSuccess)
			require.Equal(t, c.teaches, seen.by(root))
		})
	}
}
