package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// endPauses is the task that ends pauses.
func (d *desk) endPauses() {
	d.T.Helper()
	require.NoError(d.T, errors.Join(d.Groups.ResumeDue(d.T.Context()), d.Jobs.ResumeDue(d.T.Context())))
}

// A pause says why, by whom and until when; that is kept, shown, and told by the
// ledger.
func TestAPauseSaysWhyAndUntilWhen(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.TenSeconds("a", "g")
		p := entity.Pause{
			Reason: "the target is being moved 🚚", User: "anna",
			Until: noon(35*time.Second + 500*time.Millisecond),
		}
		paused, err := d.Jobs.Pause(t.Context(), job.ID, p)
		require.NoError(t, err)
		require.Equal(t, []any{p, noon(0)}, []any{paused.Pause, paused.PausedAt})
		require.Equal(t, p, d.Job(job.ID).Pause)
		d.After(35 * time.Second)
		d.endPauses()
		require.Equal(t, entity.JobPaused, d.Status(job), "half a second is left")
		d.Clock.Advance(400 * time.Millisecond)
		d.endPauses()
		require.Equal(t, entity.JobPaused, d.Status(job))
		d.Clock.Advance(time.Second)
		d.endPauses()
		resumed := d.Job(job.ID)
		require.Equal(t, []any{entity.JobEnabled, entity.Pause{}, noon(40 * time.Second)},
			[]any{resumed.Status, resumed.Pause, resumed.NextFireTime})
		version := resumed.Version
		d.endPauses()
		require.Equal(t, version, d.Job(job.ID).Version, "it is done once")
		rows := d.Rows(job.ID)
		require.Equal(t, []string{"SKIPPED(PAUSED)"}, enginetest.States(rows))
		require.Equal(t, 3, rows[0].SkipCount)
		require.Equal(t, "paused by anna: the target is being moved 🚚", rows[0].ErrorMessage)
		d.After(4 * time.Second)
		require.Len(t, d.Rows(job.ID), 2)
	})
}

// A copy of a store must run nothing because somebody pauses a job in it. The fires that it missed belong to the pause.
func TestAPauseOnANodeThatStandsByRunsNothing(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.TenSeconds("a", "g")
		d.Jobs.Working = func() bool { return false }
		d.Clock.Advance(2*time.Hour + time.Second)
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Reason: "not here"})
		require.NoError(t, err)
		require.Empty(t, d.Rows(job.ID), "nothing waits")
		d.Jobs.Working = func() bool { return true }
		d.Fire(t)
		require.Empty(t, d.Rows(job.ID))
		_, err = d.Jobs.Resume(t.Context(), job.ID)
		require.NoError(t, err)
		rows := d.Rows(job.ID)
		require.Equal(t, []string{"SKIPPED(PAUSED)"}, enginetest.States(rows))
		require.Equal(t, 720, rows[0].SkipCount, "each time is in the ledger")
	})
}

// The pause ends at the moment that it names, however late the task is: what was
// planned since then follows the misfire policy.
func TestAPauseEndsAtItsMoment(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Until: noon(25 * time.Second)})
	require.NoError(t, err)
	d.Clock.Advance(47 * time.Second)
	d.endPauses()
	require.Equal(t, noon(30*time.Second), d.Job(job.ID).NextFireTime)
	d.Fire(t)
	require.Equal(t, []string{"SKIPPED(PAUSED)", "WAITING", "WAITING"}, enginetest.States(d.Rows(job.ID)))
	require.Equal(t, 2, d.Rows(job.ID)[0].SkipCount)
}

func TestAPauseIsChangedByAnother(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	first, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Reason: "first", User: "anna", Until: noon(time.Minute)})
	require.NoError(t, err)
	d.Clock.Advance(time.Second)
	same, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{User: "ben"})
	require.NoError(t, err)
	require.Equal(t, first.Pause, same.Pause, "it says nothing")
	second, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Reason: "second", User: "ben"})
	require.NoError(t, err)
	require.Equal(t, []any{entity.Pause{Reason: "second", User: "ben"}, noon(0)}, []any{second.Pause, second.PausedAt})
	d.Clock.Advance(2 * time.Minute)
	d.endPauses()
	require.Equal(t, entity.JobPaused, d.Status(job), "the end was taken back")
	edited := d.Replace(job.ID, func(j *entity.Job) { j.Description = "while it is paused" })
	require.Equal(t, second.Pause, edited.Pause)
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	require.Zero(t, resumed.Pause)
	again, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	require.Zero(t, again.Pause, "nothing of the former pause is left")
}

func TestAPauseIsCheckedAsAWhole(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	for name, c := range map[string]struct {
		p     entity.Pause
		codes []string
	}{
		"an end in the past":    {entity.Pause{Until: noon(-time.Second)}, []string{"until in_past"}},
		"an end at this moment": {entity.Pause{Until: noon(0)}, []string{"until in_past"}},
		"an end beyond all times": {
			entity.Pause{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
			[]string{"until out_of_range"},
		},
		"all of it": {
			entity.Pause{Reason: strings.Repeat("é", 501) + "\x00", Until: noon(-1)},
			[]string{"reason too_long", "reason invalid_text", "until in_past"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, try := range []func() error{
				func() error { _, err := d.Jobs.Pause(t.Context(), job.ID, c.p); return err },
				func() error { _, err := d.Groups.Pause(t.Context(), "g", c.p); return err },
			} {
				var f *apperror.Error
				require.ErrorAs(t, try(), &f)
				var codes []string
				for _, field := range f.Fields {
					codes = append(codes, field.Field+" "+field.Code)
				}
				require.Equal(t, c.codes, codes)
			}
			require.Equal(t, entity.JobEnabled, d.Status(job))
		})
	}
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Reason: strings.Repeat("é", 500)})
	require.NoError(t, err)
}

// A pause of a group has an end, too, and its jobs know why they are paused.
func TestAPauseOfAGroupEndsByItself(t *testing.T) {
	for _, name := range []string{"g", entity.AllJobs} {
		t.Run("group "+name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				t := d.T
				job, own := d.TenSeconds("a", "g"), d.TenSeconds("b", "g")
				_, err := d.Jobs.Pause(t.Context(), own.ID, entity.Pause{Reason: "my own"})
				require.NoError(t, err)
				p := entity.Pause{Reason: "month's end", User: "anna", Until: noon(25 * time.Second)}
				g, err := d.Groups.Pause(t.Context(), name, p)
				require.NoError(t, err)
				require.Equal(t, []any{true, true, p, noon(0)}, []any{g.Paused, g.Converged, g.Pause, g.PausedAt})
				require.Equal(t, entity.Pause{Reason: "month's end", User: "anna"}, d.Job(job.ID).Pause)
				require.Equal(t, entity.Pause{Reason: "my own"}, d.Job(own.ID).Pause)
				d.Clock.Advance(5 * time.Second)
				if name == "g" {
					g, err = d.Groups.Limit(t.Context(), "g", 9, 0)
					require.NoError(t, err)
					require.Equal(t, p, g.Pause, "an edit of the limit leaves it")
				}
				p.Reason, p.User = "longer", "ben"
				g, err = d.Groups.Pause(t.Context(), name, p)
				require.NoError(t, err)
				require.Equal(t, []any{p, noon(0), true}, []any{g.Pause, g.PausedAt, g.Converged})
				d.After(22 * time.Second) // two after the end
				d.endPauses()
				g, err = d.Store.Group(t.Context(), name)
				require.NoError(t, err)
				require.Equal(t, []any{false, true, noon(25 * time.Second)}, []any{g.Paused, g.Converged, g.ResumedAt})
				require.Equal(t, []any{entity.JobEnabled, noon(30 * time.Second)}, []any{d.Status(job), d.Job(job.ID).NextFireTime})
				require.Equal(t, entity.JobPaused, d.Status(own))
				rows := d.Rows(job.ID)
				require.Equal(t, []string{"SKIPPED(PAUSED)"}, enginetest.States(rows))
				require.Equal(t, []any{2, "paused by anna: month's end"}, []any{rows[0].SkipCount, rows[0].ErrorMessage})
			})
		})
	}
}

// The end of a job's own pause does not end that of its group.
func TestAnEndedPauseLeavesTheJobToItsGroup(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Until: noon(15 * time.Second)})
	require.NoError(t, err)
	_, err = d.Groups.Pause(t.Context(), "g", entity.Pause{Reason: "all of it"})
	require.NoError(t, err)
	d.Clock.Advance(20 * time.Second)
	d.endPauses()
	held := d.Job(job.ID)
	require.Equal(t, []any{entity.JobPaused, entity.PausedByGroup, "all of it", noon(15 * time.Second)},
		[]any{held.Status, held.PausedBy, held.Pause.Reason, held.PausedAt})
	d.Clock.Advance(20 * time.Second)
	d.Hold("g", false)
	require.Equal(t, entity.JobEnabled, d.Status(job))
	require.Equal(t, []string{"SKIPPED(PAUSED)", "SKIPPED(PAUSED)"}, enginetest.States(d.Rows(job.ID)),
		"one span after the other")
	require.Equal(t, []int{1, 3}, []int{d.Rows(job.ID)[0].SkipCount, d.Rows(job.ID)[1].SkipCount})
}

// One that cannot be planned at the end of its pause stays paused, and the task
// does not try for ever.
func TestABrokenJobDoesNotKeepTheTaskBusy(t *testing.T) {
	d := newDesk(t)
	bad, good := d.TenSeconds("bad", "g"), d.TenSeconds("good", "g")
	for _, job := range []*entity.Job{bad, good} {
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Until: noon(15 * time.Second)})
		require.NoError(t, err)
	}
	d.breakZone(bad.ID)
	d.Clock.Advance(20 * time.Second)
	d.endPauses()
	require.Equal(t, []any{entity.JobPaused, entity.JobEnabled}, []any{d.Status(bad), d.Status(good)})
	version := d.Job(bad.ID).Version
	d.endPauses()
	require.Equal(t, version, d.Job(bad.ID).Version)
}

// However many pauses end at one moment, one look ends them all, and those that
// cannot be ended hold up none of the others.
func TestManyPausesEndAtOneMoment(t *testing.T) {
	d := newDesk(t)
	first, last := "", ""
	for n := range 250 {
		job := d.TenSeconds(fmt.Sprintf("job %03d", n), "g")
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Until: noon(15 * time.Second)})
		require.NoError(t, err)
		if last = job.ID; first == "" {
			first = job.ID
		}
	}
	d.Clock.Advance(16 * time.Second)
	d.Faults.Next("job.resumed", enginetest.LostCommit)
	require.Error(t, d.Jobs.ResumeDue(t.Context()))
	over, err := d.Store.JobPausesOver(t.Context(), d.Clock.Now(), 1000)
	require.NoError(t, err)
	require.Equal(t, []string{first}, over, "the next look meets it again")
	require.Equal(t, entity.JobEnabled, d.Job(last).Status)
	d.endPauses()
	require.Equal(t, entity.JobEnabled, d.Job(first).Status)
}

// A release that knows no notes of pauses leaves those of former pauses behind.
// They decide nothing.
func TestANoteOfAFormerPauseDecidesNothing(t *testing.T) {
	eachDamaged(t, func(d damaged, _ bool) {
		t := d.T
		job := d.TenSeconds("a", "g")
		_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{Reason: "long ago", Until: noon(time.Minute)})
		require.NoError(t, err)
		// Resumed and paused again by the other release.
		d.exec("UPDATE scheduler_job_definition SET paused_at = '2026-11-20 12:00:30.000', version = version + 2 "+
			"WHERE id = ?", job.ID)
		require.Zero(t, d.Job(job.ID).Pause)
		_, err = d.Groups.Pause(t.Context(), "g", entity.Pause{Reason: "long ago", Until: noon(time.Minute)})
		require.NoError(t, err)
		d.exec("UPDATE scheduler_job_group SET version = version + 2, update_time = '2026-11-20 12:00:40.000' WHERE " +
			"name = 'g'")
		g, err := d.Groups.Get(t.Context(), "g")
		require.NoError(t, err)
		require.Equal(t, []any{entity.Pause{}, noon(40 * time.Second)}, []any{g.Pause, g.PausedAt})
		d.Clock.Advance(2 * time.Minute)
		d.endPauses()
		require.Equal(t, entity.JobPaused, d.Status(job))
		g, err = d.Groups.Get(t.Context(), "g")
		require.NoError(t, err)
		require.True(t, g.Paused)
		d.Hold("g", false)
		require.Equal(t, entity.JobPaused, d.Status(job))
	})
}
