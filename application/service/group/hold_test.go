package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// flag pauses or resumes a group in its row alone: no job follows yet.
func (d *desk) flag(group string, paused bool) {
	d.T.Helper()
	_, err := d.Store.PauseGroup(d.T.Context(), group, paused, entity.Pause{}, d.Time.Now())
	require.NoError(d.T, err)
}

// outcomes are the seconds after noon for which a job has an outcome: its runs, and
// the reasons of ranges. None may have two.
func (d *desk) outcomes(id string) map[int]string {
	d.T.Helper()
	out := map[int]string{}
	note := func(at time.Time, what string) {
		s := int(at.Sub(enginetest.Noon) / time.Second)
		require.Empty(d.T, out[s], "second %d has two outcomes", s)
		out[s] = what
	}
	for _, row := range d.Rows(id) {
		if !row.IsRange() {
			note(row.ScheduledTime, "run")
			continue
		}
		n := 0
		for at := row.SkipFrom; at.Before(row.SkipTo); at = at.Add(time.Second) {
			note(at, string(row.Reason))
			n++
		}
		require.Equal(d.T, row.SkipCount, n)
	}
	return out
}

// each second of a job from the first to before the end has an outcome.
func (d *desk) covered(id string, end int) map[int]string {
	d.T.Helper()
	out := d.outcomes(id)
	for s := 1; s < end; s++ {
		require.NotEmpty(d.T, out[s], "second %d", s)
	}
	require.Len(d.T, out, end-1)
	return out
}

// A pause of a group, or of all, stops the planning of its jobs within half a
// second on every node, long before the last of them follows. The ledger shows the
// span for each, from the pause on and to its end.
func TestAPauseHoldsJobsThatDoNotFollowYet(t *testing.T) {
	for _, group := range []string{"g", entity.AllJobs} {
		t.Run("group "+group, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				t := d.T
				other := d.Join(t, enginetest.Options{})[1]
				var jobs []*entity.Job
				for i := range 6 {
					jobs = append(jobs, d.In("g", fmt.Sprint(i), waiting(func(j *entity.Job) {
						enginetest.Every(time.Second)(j)
						if i%2 == 0 {
							j.Overlap, j.MaxQueued = entity.OverlapSerial, 1000
						}
					})))
				}
				free := d.In("free", "free", waiting(enginetest.Every(time.Second)))
				d.After(2 * time.Second)
				d.flag(group, true)
				d.After(time.Second) // at the pause plus a second nothing fires
				for range 3 {
					d.After(time.Second)
					other.Fire(t)
				}
				for _, job := range jobs {
					require.Len(t, d.outcomes(job.ID), 2, "what was due before")
					require.Equal(t, entity.JobEnabled, d.Status(job))
				}
				if group == "g" {
					require.Len(t, d.outcomes(free.ID), 6, "another group goes on")
				}
				require.NoError(t, d.Jobs.FollowGroup(t.Context(), jobs[0].ID))
				require.Equal(t, []any{entity.JobPaused, noon(2 * time.Second)},
					[]any{d.Status(jobs[0]), d.Job(jobs[0].ID).PausedAt})
				d.flag(group, false)
				d.After(3 * time.Second)
				for _, job := range jobs {
					require.Len(t, d.outcomes(job.ID), 2, "until the span is recorded, nothing of it fires late")
				}
				require.NoError(t, d.Groups.Sweep(t.Context()))
				d.Clock.Advance(500 * time.Millisecond)
				d.Fire(t)
				for _, job := range append(jobs, free) {
					out := d.covered(job.ID, 10)
					for s := 3; s <= 6; s++ {
						if job != free || group != "g" {
							require.Equal(t, "PAUSED", out[s], "second %d of %s", s, job.Name)
						}
					}
					require.Equal(t, "run", out[9])
					require.Equal(t, entity.JobEnabled, d.Status(job))
				}
				g, err := d.Store.Group(t.Context(), group)
				require.NoError(t, err)
				require.True(t, g.Converged)
			})
		})
	}
}

// A node that was frozen asks which groups are paused before it fires anything.
func TestAFrozenNodeDoesNotFireWhatWasPausedMeanwhile(t *testing.T) {
	d := newDesk(t)
	job := d.In("g", "a", waiting(enginetest.Every(time.Second)))
	d.After(time.Second)
	d.Clock.Advance(900 * time.Millisecond)
	_, err := d.Planner.Scan(t.Context())
	require.NoError(t, err)
	d.flag("g", true)
	d.Clock.Advance(time.Minute) // frozen
	_, err = d.Planner.FireDue(t.Context())
	require.NoError(t, err)
	require.Len(t, d.Rows(job.ID), 1)
}

// Edits of jobs that do not follow yet decide only what was planned before.
func TestAnEditOfAJobThatDoesNotFollowYet(t *testing.T) {
	for name, edit := range map[string]func(d *desk, id string){
		"definition": func(d *desk, id string) { d.Replace(id, func(j *entity.Job) { j.Description = "edited" }) },
		"schedule":   func(d *desk, id string) { d.Replace(id, func(j *entity.Job) { j.Schedule.IntervalMs = 2000 }) },
		"a pause": func(d *desk, id string) {
			_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{})
			require.NoError(d.T, err)
		},
		"delete": func(d *desk, id string) { require.NoError(d.T, d.Jobs.Delete(d.T.Context(), id, 0)) },
	} {
		for _, over := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " after its end: ", over), func(t *testing.T) {
				d := newDesk(t)
				job := d.In("g", "a", waiting(enginetest.Every(time.Second)))
				d.After(2 * time.Second)
				d.flag("g", true)
				d.Clock.Advance(4 * time.Second)
				if over {
					d.flag("g", false)
				}
				edit(d, job.ID)
				runs := 0
				for _, what := range d.outcomes(job.ID) {
					if what == "run" {
						runs++
					}
				}
				require.Equal(t, 2, runs)
			})
		}
	}
}

// Whatever is done to a group and its jobs in whatever order, every second of each
// job has one outcome, and none that lies in a pause runs.
func TestPausesOfGroupsInAnyOrder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			d := newDesk(t)
			var jobs []*entity.Job
			for i := range 4 {
				jobs = append(jobs, d.In("g", fmt.Sprint(i), waiting(func(j *entity.Job) {
					enginetest.Every(time.Second)(j)
					j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 3600, WindowSec: 3600, MaxFires: 1000}
				})))
			}
			inPause, paused := map[int]bool{}, map[string]bool{}
			for s := 1; s <= 60; s++ {
				d.Clock.Advance(time.Second)
				inPause[s] = paused["g"] || paused[entity.AllJobs]
				if random.IntN(3) > 0 {
					d.Fire(t)
				}
				switch group := []string{"g", entity.AllJobs}[random.IntN(2)]; random.IntN(8) {
				case 0, 1:
					d.flag(group, true)
					paused[group] = true
				case 2, 3:
					d.flag(group, false)
					paused[group] = false
				case 4:
					require.NoError(t, d.Groups.Sweep(t.Context()))
				case 5:
					require.NoError(t, d.Jobs.FollowGroup(t.Context(), jobs[random.IntN(4)].ID))
				case 6:
					d.Replace(jobs[random.IntN(4)].ID, func(j *entity.Job) { j.Description = fmt.Sprint(s) })
				}
			}
			d.flag("g", false)
			d.flag(entity.AllJobs, false)
			require.NoError(t, d.Groups.Sweep(t.Context()))
			d.Clock.Advance(time.Second)
			d.Fire(t)
			for _, job := range jobs {
				for s, what := range d.covered(job.ID, 62) {
					if inPause[s] {
						require.NotEqual(t, "run", what, "second %d of job %s lies in a pause", s, job.Name)
					}
				}
			}
		})
	}
}
