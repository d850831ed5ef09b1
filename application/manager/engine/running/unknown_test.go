package running_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errUnknown = &repository.UnknownError{
	Err: errors.New("error 1047 (08S01): WSREP has not yet prepared node for application use"),
}

// failFirst refuses what follows from so many completions, from when it is set on.
func (c *choosy) failFirst(n int32, err error) {
	var tried atomic.Int32
	c.set(nil, func(string) error {
		if tried.Add(1) <= n {
			return err
		}
		return nil
	})
}

// An unknown answer of the store, of any kind and for some moments, takes no slot from a job. No fire is left out or
// waits because of a run that ended.
func TestAnAnswerThatNobodyKnowsTakesNoSlot(t *testing.T) {
	for _, c := range []struct {
		name    string
		overlap entity.OverlapPolicy
		err     error
		times   int32
	}{
		{"discard, once", entity.OverlapDiscard, errUnknown, 1},
		{"serial, once", entity.OverlapSerial, errUnknown, 1},
		{"discard, for some tries", entity.OverlapDiscard, errUnknown, 4},
		{"replace, for some tries", entity.OverlapReplace, errUnknown, 4},
		{"an error of the program, once", entity.OverlapDiscard, errBroken, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, store, _ := choosyNode(t)
				job := n.Add(t, enginetest.Job("one at a time", func(j *entity.Job) {
					enginetest.Every(time.Minute)(j)
					j.Overlap = c.overlap
				}))
				store.failFirst(c.times, c.err)
				for i := range 3 {
					n.Fire(t)
					n.Runner.RunsReady(entity.SlotGeneral)
					eventually(t, n, "the run has ended, and its slot is free", func() bool {
						execs := n.Executions(t, job.ID)
						return len(execs) == i+1 && len(liveFiresOf(t, n, job.ID)) == 0 &&
							!slices.ContainsFunc(execs, func(e *entity.Execution) bool { return e.Status != entity.StatusSuccess })
					})
					n.Clock.Advance(time.Minute)
				}
				for _, exec := range n.Executions(t, job.ID) {
					require.Equal(t, "done", exec.Result)
				}
				awaitIdle(t, n)
			})
		})
	}
}

// While the ends wait, the health of the node says how many wait, and which answer they met.
func TestEndsHeldForAnUnknownAnswerAreToldSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		store.set(func(string) error { return errUnknown }, nil)
		job := n.Add(t, enginetest.Job("held", func(j *entity.Job) { j.Overlap = entity.OverlapDiscard }))
		exec := startRun(t, n, job.ID)
		eventually(t, n, "the end is shown", func() bool { return n.Runner.HeldEnds() == 1 })
		reason, blocks := n.Runner.Ends.Holding()
		require.Contains(t, reason, exec.ID)
		require.Contains(t, reason, "1047")
		require.False(t, blocks)
		require.Len(t, liveFiresOf(t, n, job.ID), 1, "the run has not ended for the store, and keeps its slot")
		store.set(nil, nil)
		eventually(t, n, "nothing is shown any more", func() bool { return n.Runner.HeldEnds() == 0 })
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Empty(t, liveFiresOf(t, n, job.ID))
	})
}

// An end that is always alone has no witness against it: it is stored apart from what
// follows from it only after a while.
func TestALoneEndIsStoredApartAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		job := n.Add(t, enginetest.Job("bad", func(j *entity.Job) { j.Overlap = entity.OverlapDiscard }))
		store.set(nil, only(job.ID, errUnknown))
		began := n.Clock.Now()
		exec := startRun(t, n, job.ID)
		eventually(t, n, "the end is stored", func() bool {
			return n.Execution(t, exec.ID).Status == entity.StatusSuccess
		})
		require.GreaterOrEqual(t, n.Clock.Now().Sub(began), 30*time.Second)
		require.Len(t, liveFiresOf(t, n, job.ID), 1)
	})
}

// Where others were stored beside it, the node stores it apart at once. The next look of the sweep gives its slot up,
// not a minute later.
func TestAnEndThatIsToBlameKeepsItsSlotForSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		var jobs []*entity.Job
		for _, name := range []string{"first", "bad", "good"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, func(j *entity.Job) { j.Overlap = entity.OverlapDiscard })))
		}
		store.set(nil, only(jobs[1].ID, errUnknown))
		execs := endTogether(t, n, entity.Succeeded("done"), nothing, jobs...)
		for _, exec := range execs {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess) // and no time has passed
		}
		store.set(nil, nil)
		for _, c := range []struct {
			after time.Duration
			left  int
		}{{4 * time.Second, 1}, {2 * time.Second, 0}} {
			n.Clock.Advance(c.after)
			_, err := n.Repairs.SweepSlots(t.Context())
			require.NoError(t, err)
			require.Len(t, liveFiresOf(t, n, jobs[1].ID), c.left)
		}
	})
}

// An end that was to be stored apart, while the store went away, is tried whole again: its slot goes back with it.
func TestAnEndThatWasToBeStoredApartIsTriedWholeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		var tries atomic.Int32
		n.Faults.Before(func(name string) {
			if name == "complete" {
				tries.Add(1)
			}
		})
		const whole = 2 // so often it fails before it is tried apart
		store.set(func(string) error {
			if tries.Load() == whole+1 {
				return apperror.Unavailable(errors.New("the store is away"))
			}
			return nil
		}, func(string) error {
			if tries.Load() <= whole {
				return errBroken
			}
			return nil
		})
		job := n.Add(t, enginetest.Job("discards", func(j *entity.Job) { j.Overlap = entity.OverlapDiscard }))
		exec := startRun(t, n, job.ID)
		eventually(t, n, "the end is stored", func() bool {
			return n.Execution(t, exec.ID).Status == entity.StatusSuccess
		})
		require.EqualValues(t, whole+2, tries.Load())
		require.Empty(t, liveFiresOf(t, n, job.ID), "the sweep has nothing to make up for")
	})
}
