package alerting_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

func TestWhatIsAboveItsLine(t *testing.T) {
	threshold := func(n float64) func(r *alert.Rule) { return func(r *alert.Rule) { r.Threshold = n } }
	unroutable := &alerting.State{Now: noon, Unroutable: []alerting.Unroutable{
		{Job: pay, Runs: 2, Wait: entity.WaitHandler, Oldest: at(-90)},
		{Job: alerting.Job{ID: "j2", Name: "x", Group: "risk"}, Runs: 1, Wait: entity.WaitNode, Oldest: at(-9)},
	}}
	nodes := &alerting.State{Now: noon, Nodes: []entity.Node{
		{ID: "a", Status: entity.NodeUp},
		{ID: "left", Status: entity.NodeDown, DownCause: entity.DownLeft},
		{ID: "b", Status: entity.NodeDown, ClockOffset: time.Hour},
		{ID: "c", Status: entity.NodeSuspect, ClockOffset: -2 * time.Second},
	}}
	few := &alerting.State{WorkerGroups: []alerting.WorkerGroup{
		{Name: "empty"},
		{Name: "bank", JobGroups: []string{"pay", "risk"}, Up: 1},
		{Name: "shop", JobGroups: []string{"pay"}, Up: 2},
		{Name: "lab", JobGroups: []string{"lab"}, Up: 5},
	}}
	overdue := &alerting.State{Now: noon, Overdue: []alerting.Overdue{
		{Job: pay, Due: at(-40)}, {Job: alerting.Job{ID: "j2", Name: "x", Group: "risk"}, Due: at(-100)},
	}}
	quiet := &alerting.State{Now: noon, LastEnd: at(-60), Expected: at(-90)}
	window := func(r *alert.Rule) { r.WindowSec = 60 }
	for name, c := range map[string]struct {
		rule  *alert.Rule
		state *alerting.State
		want  []string
	}{
		"a deep queue": {
			rule(alert.QueueDepth, threshold(10)), queue(10), []string{"10 runs wait for a free slot."},
		},
		"a shallow queue": {rule(alert.QueueDepth, threshold(10)), queue(9), nil},
		"a late queue": {
			rule(alert.Lateness, threshold(90)), queue(1),
			[]string{"The oldest run of the queue ready has waited for 1m30s."},
		},
		"a punctual queue": {rule(alert.Lateness, threshold(91)), queue(1), nil},
		"no node": {
			rule(alert.NoNode, nil), unroutable, []string{
				"1 runs of the job x wait: no live node has its labels.",
				"2 runs of the job settle wait: no live node has its handler.",
			},
		},
		"no node in a group": {
			rule(alert.NoNode, func(r *alert.Rule) { r.Group = "pay" }), unroutable,
			[]string{"2 runs of the job settle wait: no live node has its handler."},
		},
		"unroutable is not deep": {rule(alert.QueueDepth, threshold(1)), unroutable, nil},
		"very deep": {
			rule(alert.QueueDepth, threshold(10)),
			&alerting.State{Queues: []alerting.Queue{{Name: alerting.Ready, Depth: 10_000, AtLeast: true}}},
			[]string{"at least 10000 runs wait for a free slot."},
		},
		"down":    {rule(alert.NodeDown, nil), nodes, []string{"The node b is DOWN."}},
		"suspect": {rule(alert.NodeSuspect, nil), nodes, []string{"The node c is SUSPECT: its beats are late."}},
		"few workers": {
			rule(alert.WorkersFew, threshold(2)), few, []string{
				"The worker group bank has 1 workers that are UP; it should have 2 or more.",
				"The worker group empty has 0 workers that are UP; it should have 2 or more.",
			},
		},
		"few workers of a group": {
			rule(alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.Group = 3, "pay" }), few, []string{
				"The worker group bank has 1 workers that are UP; it should have 3 or more.",
				"The worker group shop has 2 workers that are UP; it should have 3 or more.",
			},
		},
		"few workers of a scope": {
			rule(alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.Scope.Groups = 3, []string{"risk", "x"} }), few,
			[]string{"The worker group bank has 1 workers that are UP; it should have 3 or more."},
		},
		"enough workers": {rule(alert.WorkersFew, threshold(1)), &alerting.State{WorkerGroups: few.WorkerGroups[1:]}, nil},
		"a clock":        {rule(alert.ClockSkew, nil), nodes, []string{"The clock of the node c is off by -2s."}},
		"a clock within": {rule(alert.ClockSkew, threshold(3)), nodes, nil},
		"a part": {
			rule(alert.Degraded, nil), &alerting.State{Troubles: []alerting.Trouble{
				{Part: "redis", Why: "away.", Nodes: []string{"a"}},
				{Part: "kafka", Why: "away", Nodes: []string{"a", "b", "c", "d", "e", "f", "g"}},
			}}, []string{
				"The part kafka is degraded on a, b, c, d, e and 2 more: away.", "The part redis is degraded on a: away.",
			},
		},
		"overdue": {
			rule(alert.NotFired, nil), overdue,
			[]string{
				"The job settle did not fire at 2026-11-20T11:59:20Z.",
				"The job x did not fire at 2026-11-20T11:58:20Z.",
			},
		},
		"overdue for long": {
			rule(alert.NotFired, threshold(60)), overdue, []string{"The job x did not fire at 2026-11-20T11:58:20Z."},
		},
		"overdue in a group": {
			rule(alert.NotFired, func(r *alert.Rule) { r.Group = "pay" }), overdue,
			[]string{"The job settle did not fire at 2026-11-20T11:59:20Z."},
		},
		"overdue by its own measure": {
			rule(alert.NotFired, nil), &alerting.State{Now: noon, Overdue: []alerting.Overdue{
				{Job: pay, Due: at(-40), LateAfter: 41 * time.Second},
			}}, nil,
		},
		"without a next time": {
			rule(alert.NotFired, nil), &alerting.State{Now: noon, Overdue: []alerting.Overdue{{Job: pay}}},
			[]string{"The job settle is ENABLED and has no next time, so that it will not fire. Edit or resume it."},
		},
		"nothing ran": {
			rule(alert.NothingRan, window), quiet,
			[]string{"Nothing has run for 1m0s, although fires were due since 2026-11-20T11:58:30Z."},
		},
		"something ran": {rule(alert.NothingRan, func(r *alert.Rule) { r.WindowSec = 61 }), quiet, nil},
		"nothing is planned": {
			rule(alert.NothingRan, window), &alerting.State{Now: noon, LastEnd: at(-6000)}, nil,
		},
		"something runs": {
			rule(alert.NothingRan, window),
			&alerting.State{Now: noon, LastEnd: at(-6000), Expected: at(-90), Running: true}, nil,
		},
		"due for less": {
			rule(alert.NothingRan, window), &alerting.State{Now: noon, LastEnd: at(-6000), Expected: at(-59)}, nil,
		},
		"nothing has ever run": {
			rule(alert.NothingRan, window), &alerting.State{Now: noon, Expected: at(-60)},
			[]string{"Nothing has run for 1m0s, although fires were due since 2026-11-20T11:59:00Z."},
		},
		"always": {
			rule(alert.Watchdog, nil), quiet, []string{"This alert always fires: while it arrives, alerting works."},
		},
		"switched off": {rule(alert.Watchdog, func(r *alert.Rule) { r.Enabled = false }), quiet, nil},
		"an event":     {rule(alert.JobFailed, nil), quiet, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range alerting.Levels(c.rule, c.state) {
				got = append(got, s.Content)
			}
			slices.Sort(got)
			require.Equal(t, slices.Sorted(slices.Values(c.want)), slices.Clip(got))
		})
	}
}

// A standstill of the scheduler is one alert, not a million.
func TestVeryManyOverdueJobsAreOneAlert(t *testing.T) {
	st := &alerting.State{Now: noon}
	for n := range alerting.MaxOverdue {
		st.Overdue = append(st.Overdue, alerting.Overdue{Job: alerting.Job{ID: fmt.Sprint(n), Group: "g"}, Due: at(-60)})
	}
	one := alerting.Levels(rule(alert.NotFired, nil), st)
	require.Len(t, one, 1)
	require.Empty(t, one[0].JobID)
	require.Len(t, alerting.Levels(rule(alert.NotFired, func(r *alert.Rule) { r.Scope.JobIDs = []string{"7"} }), st), 1)
	require.Len(t, alerting.Levels(rule(alert.NotFired, nil), &alerting.State{Now: noon, Overdue: st.Overdue[1:]}),
		alerting.MaxOverdue-1)
}

// What the one alert of very many stands for does not look well because nobody names it.
func TestALookThatIsFullSaysNothingOfOthers(t *testing.T) {
	full := &alerting.State{Now: noon, OverdueCut: true, UnroutableCut: true}
	exact := &alerting.State{Now: noon, Overdue: make([]alerting.Overdue, alerting.MaxOverdue)}
	for name, c := range map[string]struct {
		of   alert.RuleType
		job  string
		st   *alerting.State
		next time.Time
		want bool
	}{
		"full":             {alert.NotFired, "j1", full, at(-60), true},
		"as many":          {alert.NotFired, "j1", exact, at(-60), true},
		"no next time":     {alert.NotFired, "j1", full, time.Time{}, true},
		"fires in future":  {alert.NotFired, "j1", full, at(1), false},
		"few":              {alert.NotFired, "j1", &alerting.State{Now: noon}, at(-60), false},
		"the one of many":  {alert.NotFired, "", full, time.Time{}, false},
		"no node":          {alert.NoNode, "j1", full, at(1), true},
		"few without node": {alert.NoNode, "j1", exact, at(1), false},
		"another level":    {alert.Lateness, "j1", full, at(-60), false},
	} {
		require.Equal(t, c.want, alerting.Unseen(&alert.Alert{Type: c.of, JobID: c.job}, c.st, c.next), name)
	}
}

func TestVeryManyRunsWithoutANodeAreOneAlert(t *testing.T) {
	st := &alerting.State{Now: noon, Unroutable: []alerting.Unroutable{
		{Job: pay, Runs: alerting.MaxUnroutable - 1}, {Job: alerting.Job{ID: "j2"}, Runs: 1},
	}}
	one := alerting.Levels(rule(alert.NoNode, nil), st)
	require.Len(t, one, 1)
	require.Empty(t, one[0].JobID)
	require.Len(t, alerting.Levels(rule(alert.NoNode, func(r *alert.Rule) { r.Group = "pay" }), st), 1)
}

// Sentences in other languages are made of the details.
func TestAClockSaysHowFarItIsOff(t *testing.T) {
	found := alerting.Levels(rule(alert.ClockSkew, nil), &alerting.State{Now: noon, Nodes: []entity.Node{
		{ID: "c", Status: entity.NodeUp, ClockOffset: -2 * time.Second},
	}})
	require.Len(t, found, 1)
	require.Equal(t, map[string]string{"node": "c", "offsetMs": "-2000"}, found[0].Details)
}

func TestGraceIsAtLeastHalfAMinute(t *testing.T) {
	require.Equal(t, 30*time.Second, alerting.Grace(time.Second, 3*time.Second))
	require.Equal(t, 60*time.Second, alerting.Grace(20*time.Second, 3*time.Second))
	require.Equal(t, 80*time.Second, alerting.Grace(time.Second, 40*time.Second))
}
