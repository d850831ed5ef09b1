package detached_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// happenings are what may become of a detached run, in the words of
// docs/state-machine.md.
func happenings() map[string]func(r *rig, exec *entity.Execution) {
	return map[string]func(r *rig, exec *entity.Execution){
		"the target reports SUCCESS": func(r *rig, exec *entity.Execution) {
			require.NoError(r.t, r.report(r.nodes[1], exec.ID, 1, ended(entity.StatusSuccess)))
		},
		"the target reports FAILED": func(r *rig, exec *entity.Execution) {
			require.NoError(r.t, r.report(r.nodes[1], exec.ID, 1, ended(entity.StatusFailed)))
		},
		"its deadline passes": func(r *rig, _ *entity.Execution) {
			n, err := r.nodes[1].Detached.SweepDeadlines(r.t.Context())
			require.NoError(r.t, err)
			require.Zero(r.t, n, "it has time left")
			r.one().Clock.Advance(limit)
			n, err = r.nodes[1].Detached.SweepDeadlines(r.t.Context())
			require.NoError(r.t, err)
			require.Equal(r.t, 1, n)
		},
		"it is cancelled": func(r *rig, exec *entity.Execution) {
			done, err := r.nodes[1].Detached.Cancel(r.t.Context(), exec)
			require.NoError(r.t, err)
			require.True(r.t, done)
		},
		"a newer fire replaces it": func(r *rig, exec *entity.Execution) {
			r.nodes[1].Change(r.t, exec.JobID, func(j *entity.Job) {
				j.Overlap = entity.OverlapReplace
				j.Version++
			})
			newer := r.nodes[1].Trigger(r.t, exec.JobID)
			r.awaitDetached(newer[0].ID, 1)
		},
		"its job is paused": func(r *rig, exec *entity.Execution) {
			r.nodes[1].Change(r.t, exec.JobID, func(j *entity.Job) {
				j.Status = entity.JobPaused
				j.Version++
			})
			r.tasks()
		},
		"its job is deleted": func(r *rig, exec *entity.Execution) {
			r.delete(exec.JobID)
			r.tasks()
		},
		"the node that posted it dies": func(r *rig, _ *entity.Execution) {
			r.one().Die(r.t)
			held, err := r.nodes[1].Runner.Reap(r.t.Context(), r.one().ID(), 1<<40)
			require.NoError(r.t, err)
			require.Zero(r.t, held)
			r.tasks()
		},
		"the node that posted it stops": func(r *rig, _ *entity.Execution) {
			r.stops[0]()
			r.tasks()
		},
	}
}

// tasks are what nodes do at intervals.
func (r *rig) tasks() {
	r.t.Helper()
	for _, n := range r.nodes[1:] {
		require.NoError(r.t, n.Runner.Reconcile(r.t.Context()))
		for _, sweep := range []func() (int, error){
			func() (int, error) { return n.Detached.SweepDeadlines(r.t.Context()) },
			func() (int, error) { return n.Detached.SweepCancels(r.t.Context()) },
			func() (int, error) { return n.Repairs.SweepDeadlines(r.t.Context()) },
			func() (int, error) { return n.Repairs.SweepSlots(r.t.Context()) },
			func() (int, error) { return n.Repairs.SweepLimits(r.t.Context()) },
		} {
			_, err := sweep()
			require.NoError(r.t, err)
		}
	}
}

// TestTheTableOfDetachedRunsIsWhatHappens goes through the table of
// docs/state-machine.md. A line that nothing here tells of fails, and so does
// what the table leaves out.
func TestTheTableOfDetachedRunsIsWhatHappens(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/state-machine.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Detached runs\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	const andRetry = ", and a retry is due"
	told := map[string]bool{}
	for _, line := range regexp.MustCompile("(?m)^\\| ([^|`]+) \\| `([A-Z]+)` \\| (?:`([A-Z]+)`)? ?\\|$").
		FindAllStringSubmatch(section, -1) {
		what, status, reason := line[1], entity.Status(line[2]), entity.Reason(line[3])
		retries := 0
		event, again := strings.CutSuffix(what, andRetry)
		if again {
			retries = 1
		}
		happens := happenings()[event]
		require.NotNil(t, happens, "nothing here tells of %q", what)
		told[event] = true
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 2)
				job := r.job(func(j *entity.Job) {
					limited(retries)(j)
					// Coordinated, so that places are given on, too.
					j.Overlap = entity.OverlapSerial
				})
				exec := r.detached(r.one(), job.ID)
				happens(r, exec)
				got := r.nodes[1].Execution(t, exec.ID)
				require.Equal(t, []any{status, reason}, []any{got.Status, got.Reason})
				require.Equal(t, status.Final(), got.Claim == "")
				if status.Final() {
					requireCode(t, r.report(r.nodes[1], exec.ID, 1, says("late")), conflict,
						map[bool]string{true: "run_cancelled", false: "run_over"}[status == entity.StatusCancelled])
				}
				if status == entity.StatusRunning {
					require.True(t, got.Detached())
					require.NoError(t, r.report(r.nodes[1], exec.ID, 1, ended(entity.StatusSuccess)),
						"it goes on as if nothing had happened")
					require.Equal(t, entity.StatusSuccess, r.nodes[1].Execution(t, exec.ID).Status)
				}
				posted := len(r.nodes[0].Script.Runs()) + len(r.nodes[1].Script.Runs())
				require.Equal(t, map[bool]int{true: 2, false: 1}[event == "a newer fire replaces it"], posted,
					"nothing is posted twice")
			})
		})
	}
	for event := range happenings() {
		require.True(t, told[event], "the table leaves out that %s", event)
	}
	require.NotEmpty(t, told)
}

// TestADetachedRunBelongsToNobody: neither a node nor a slot is bound to it.
func TestADetachedRunBelongsToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		n := r.one()
		exec := r.detached(n, r.job(nil).ID)
		require.Equal(t, []any{"", int64(0), int64(1), 1}, []any{exec.NodeID, exec.Epoch, exec.Token, exec.Attempt})
		until, ok := exec.Claim.DetachedUntil()
		require.True(t, ok)
		require.Equal(t, exec.StartTime.Add(limit), until)
		enginetest.Await(t, func() bool {
			running, _ := n.Runner.Load(entity.SlotGeneral)
			return running == 0
		}, "its slot is given back")
		held, err := n.Store.Held(t.Context(), n.ID())
		require.NoError(t, err)
		require.Empty(t, held)
		execs, _, err := n.Store.Executions.List(t.Context(), repository.ExecutionFilter{Status: entity.StatusRunning},
			repository.Page{})
		require.NoError(t, err)
		require.Len(t, execs, 1, "it is shown among those that run")
	})
}
