package definition_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// exchange is the service of documents at a desk.
func (d *desk) exchange() (*definition.DefinitionService, *group.GroupService) {
	groups := group.NewGroupService(d.Store, d.Jobs, d.Planner, d.Time, slog.New(slog.DiscardHandler))
	return definition.NewDefinitionService(d.Store.Jobs, d.Jobs.ForDocuments(), groups, d.Secrets, d.Alerting), groups
}

// apply brings the jobs in line with definitions and returns what was done.
func (d *desk) apply(prune bool, jobs ...definition.Definition) []definition.JobChange {
	d.T.Helper()
	x, _ := d.exchange()
	p, err := x.Plan(d.T.Context(), definition.Document{Jobs: jobs}, prune)
	require.NoError(d.T, err)
	x.Apply(d.T.Context(), p)
	return p.Jobs
}

func define(name string, enabled *bool, change func(j *entity.Job)) definition.Definition {
	return definition.Definition{Job: enginetest.Job(name, change), Enabled: enabled}
}

// The meaning of "enabled" for a job in each of its states. A minute between the two
// versions of the schedule makes the edit visible.
func TestEnabledSaysWhatBecomesOfAJob(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name    string
		state   entity.JobStatus
		by      entity.PauseCause
		enabled *bool
		want    entity.JobStatus
		changed bool
	}{
		{"created, not said", entity.JobCreated, "", nil, entity.JobCreated, false},
		{"created, false", entity.JobCreated, "", &no, entity.JobCreated, false},
		{"created, true", entity.JobCreated, "", &yes, entity.JobEnabled, true},
		{"enabled, not said", entity.JobEnabled, "", nil, entity.JobEnabled, false},
		{"enabled, true", entity.JobEnabled, "", &yes, entity.JobEnabled, false},
		{"enabled, false", entity.JobEnabled, "", &no, entity.JobPaused, true},
		{"paused, not said", entity.JobPaused, "", nil, entity.JobPaused, false},
		{"paused, false", entity.JobPaused, "", &no, entity.JobPaused, false},
		{"paused, true", entity.JobPaused, "", &yes, entity.JobEnabled, true},
		{"held by its group, not said", entity.JobPaused, entity.PausedByGroup, nil, entity.JobPaused, false},
		{"held by its group, true", entity.JobPaused, entity.PausedByGroup, &yes, entity.JobPaused, false},
		{"held by its group, false", entity.JobPaused, entity.PausedByGroup, &no, entity.JobPaused, true},
		{"finished, not said", entity.JobFinished, "", nil, entity.JobFinished, false},
		{"finished, true", entity.JobFinished, "", &yes, entity.JobFinished, false},
		{"finished, false", entity.JobFinished, "", &no, entity.JobFinished, false},
	} {
		for _, edited := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", edited ", edited), func(t *testing.T) {
				d := newDesk(t)
				once := func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Minute)} }
				_, groups := d.exchange()
				job, err := d.Jobs.Create(t.Context(), enginetest.Job("j", once), c.state != entity.JobCreated)
				require.NoError(t, err)
				switch {
				case c.by == entity.PausedByGroup:
					_, err = groups.Pause(t.Context(), job.Group, entity.Pause{})
				case c.state == entity.JobPaused:
					_, err = d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
				case c.state == entity.JobFinished:
					d.After(2 * time.Minute)
				}
				require.NoError(t, err)
				require.Equal(t, c.state, d.Job(job.ID).Status)

				done := d.apply(false, define("j", c.enabled, func(j *entity.Job) {
					once(j)
					if edited {
						j.Priority = 9
					}
				}))
				require.NoError(t, done[0].Err)
				stored := d.Job(job.ID)
				require.Equal(t, c.want, stored.Status)
				require.Equal(t, definition.ChangeAction(map[bool]string{true: "UPDATE", false: "UNCHANGED"}[edited || c.changed]),
					done[0].Action)
				require.Equal(t, map[bool]int{true: 9, false: 5}[edited], stored.Priority)
				require.Equal(t, stored.Enabled(), done[0].After.Enabled(), "what was planned is what was done")
				again := d.apply(false, define("j", c.enabled, func(j *entity.Job) { once(j); j.Priority = stored.Priority }))
				require.Equal(t, definition.ActionUnchanged, again[0].Action)
				require.Equal(t, stored, d.Job(job.ID), "what is there is not touched")
			})
		}
	}
}

func TestAFinishedJobGetsANewSchedule(t *testing.T) {
	no := false
	for _, enabled := range []*bool{nil, &no} {
		d := newDesk(t)
		at := func(at time.Time) func(j *entity.Job) {
			return func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.Once, At: at} }
		}
		job := d.Create(enginetest.Job("j", at(noon(time.Minute))))
		d.After(2 * time.Minute)
		done := d.apply(false, define("j", enabled, at(noon(time.Hour))))
		require.NoError(t, done[0].Err)
		want := entity.JobEnabled
		if enabled != nil {
			want = entity.JobPaused
		}
		require.Equal(t, want, d.Job(job.ID).Status)
	}
}

func TestOnlyAJobThatKeepsOrNeedsNoPlanMayNameThePast(t *testing.T) {
	d := newDesk(t)
	x, _ := d.exchange()
	no := false
	past := []apperror.Field{{Field: "jobs[0].schedule.at", Code: schedule.CodeInPast, Message: "past"}}
	def := func(name string, enabled *bool, at time.Time) definition.Document {
		j := define(name, enabled, func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.Once, At: at} })
		j.Past = past
		return definition.Document{Jobs: []definition.Definition{j}}
	}
	d.Create(enginetest.Job("old", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Minute)}
	}))
	d.After(time.Hour)
	p, err := x.Plan(t.Context(), def("old", nil, noon(time.Minute)), false)
	require.NoError(t, err)
	require.Equal(t, definition.ActionUnchanged, p.Jobs[0].Action)
	for _, doc := range []definition.Document{
		def("old", nil, noon(2*time.Minute)), def("old", &no, noon(2*time.Minute)),
		def("new", nil, noon(time.Minute)),
	} {
		_, err = x.Plan(t.Context(), doc, false)
		requireCode(t, err, apperror.KindInvalid, "invalid")
	}
	p, err = x.Plan(t.Context(), def("new", &no, noon(time.Minute)), false)
	require.NoError(t, err)
	x.Apply(t.Context(), p)
	require.NoError(t, p.Jobs[0].Err)
	require.Equal(t, entity.JobCreated, p.Jobs[0].After.Status)
}

func TestPruneKeepsToTheGroupsOfTheDocument(t *testing.T) {
	d := newDesk(t)
	in := func(group string) func(j *entity.Job) { return func(j *entity.Job) { j.Group = group } }
	for _, name := range []string{"a", "b", "c"} {
		d.Create(enginetest.Job(name, in("one")))
	}
	other := d.Create(enginetest.Job("a", in("two")))
	require.Empty(t, d.apply(true), "a document of nothing deletes nothing")
	done := d.apply(true, define("b", nil, in("one")))
	require.Equal(t, []definition.ChangeAction{"UNCHANGED", "DELETE", "DELETE"},
		[]definition.ChangeAction{done[0].Action, done[1].Action, done[2].Action})
	require.Equal(t, []string{"b", "a", "c"}, []string{done[0].Job().Name, done[1].Job().Name, done[2].Job().Name})
	d.Job(other.ID)

	x, groups := d.exchange()
	require.NoError(t, x.Jobs(t.Context(), []string{""}, func([]*entity.Job) error {
		return errors.New("no group has no name")
	}))
	p, err := x.Plan(t.Context(),
		definition.Document{Groups: []entity.Group{{Name: "one", MaxConcurrency: 4}, {Name: "three"}}}, true)
	require.NoError(t, err)
	x.Apply(t.Context(), p)
	require.Equal(t, []definition.ChangeAction{"UPDATE", "CREATE"},
		[]definition.ChangeAction{p.Groups[0].Action, p.Groups[1].Action})
	require.Equal(t, definition.ActionDelete, p.Jobs[0].Action)
	g, err := groups.Get(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, 4, g.MaxConcurrency)
}

func TestWhatFailsDoesNotStopTheRest(t *testing.T) {
	d := newDesk(t)
	x, groups := d.exchange()
	held := d.Create(enginetest.Job("held", func(j *entity.Job) { j.Group = "held" }))
	_, err := d.Jobs.Pause(t.Context(), held.ID, entity.Pause{})
	require.NoError(t, err)
	_, err = groups.Pause(t.Context(), "held", entity.Pause{})
	require.NoError(t, err)
	edited := d.Create(enginetest.Job("edited", nil))
	gone := d.Create(enginetest.Job("gone", nil))
	yes := true
	p, err := x.Plan(t.Context(), definition.Document{Jobs: []definition.Definition{
		define("held", &yes, func(j *entity.Job) { j.Group = "held" }),
		define("edited", nil, func(j *entity.Job) { j.Priority = 8 }),
		define("gone", nil, func(j *entity.Job) { j.Priority = 8 }), define("new", nil, nil),
	}}, false)
	require.NoError(t, err)
	d.Replace(edited.ID, func(j *entity.Job) { j.Priority = 2 }) // somebody else is quicker
	require.NoError(t, d.Jobs.Delete(t.Context(), gone.ID, 0))
	x.Apply(t.Context(), p)
	requireCode(t, p.Jobs[0].Err, apperror.KindConflict, "group_paused")
	requireCode(t, p.Jobs[1].Err, apperror.KindConflict, "stale_version")
	requireCode(t, p.Jobs[2].Err, apperror.KindNotFound, "not_found")
	require.NoError(t, p.Jobs[3].Err)
	require.Equal(t, 2, d.Job(edited.ID).Priority)
	require.NotEmpty(t, p.Jobs[3].After.ID)
}

func TestACallThatRunsOutOfTimeSaysWhatIsLeft(t *testing.T) {
	d := newDesk(t)
	x, _ := d.exchange()
	p, err := x.Plan(t.Context(), definition.Document{
		Groups: []entity.Group{{Name: "g"}},
		Jobs:   []definition.Definition{define("a", nil, nil)},
	}, false)
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	x.Apply(over, p)
	requireCode(t, p.Jobs[0].Err, apperror.KindUnavailable, "timeout")
	requireCode(t, p.Groups[0].Err, apperror.KindUnavailable, "timeout")
}

// Definitions that differ only in what JSON does not tell apart are the same.
func TestTheOrderOfDataIsNoDifference(t *testing.T) {
	d := newDesk(t)
	d.Create(enginetest.Job("j", func(j *entity.Job) { j.Data = `{"a":1,"b":9007199254740993}` }))
	with := func(data string) definition.ChangeAction {
		x, _ := d.exchange()
		p, err := x.Plan(t.Context(), definition.Document{Jobs: []definition.Definition{define("j", nil, func(j *entity.Job) {
			j.Data, j.Labels = data, map[string]string{}
		})}}, false)
		require.NoError(t, err)
		return p.Jobs[0].Action
	}
	require.Equal(t, definition.ActionUnchanged, with(`{"b":9007199254740993, "a":1}`))
	require.Equal(t, definition.ActionUpdate, with(`{"b":9007199254740992,"a":1}`))
}
