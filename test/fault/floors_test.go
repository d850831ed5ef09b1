package fault_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/maximal"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

func TestFloorsGrowWithTheMinutes(t *testing.T) {
	require.Equal(t, fault.Floors{
		Runs: 20_000, Kinds: 200, Verbs: 200, Points: 20, Turns: 12, Answers: 8, Beside: 20, Fields: 50, Steps: 10,
	}, fault.FloorsOf(30*time.Minute))
	long := fault.FloorsOf(30 * time.Minute)
	long.Turns, long.Answers = 20, 16
	require.Equal(t, long, fault.FloorsOf(time.Hour), "there is time for more of them")
	long.Answers = 20
	require.Equal(t, long, fault.FloorsOf(10*time.Hour))
	require.Equal(t, fault.Floors{Runs: 1000, Kinds: 10, Verbs: 10, Points: 1, Beside: 1, Fields: 2},
		fault.FloorsOf(3*time.Minute))
	require.Equal(t, fault.Floors{
		Runs: 3333, Kinds: 33, Verbs: 33, Points: 3, Turns: 2, Answers: 1, Beside: 3, Fields: 8, Steps: 1,
	}, fault.FloorsOf(10*time.Minute))
	require.Zero(t, fault.FloorsOf(18*time.Second).Fields, "the short form asks for no count")
}

func TestAFloorThatIsMissedIsNamed(t *testing.T) {
	floors := fault.FloorsOf(3 * time.Minute)
	met := judge.Tally{Closed: floors.Runs, Again: floors.Runs / 2, Kinds: map[string]int{}, Verbs: map[string]int{}}
	points := map[string]int{}
	for _, kind := range judge.Kinds() {
		met.Kinds[kind] = floors.Kinds
	}
	for _, verb := range judge.Verbs() {
		met.Verbs[verb] = floors.Verbs
	}
	for _, point := range crash.FlowPoints() {
		points[point] = floors.Points
	}
	require.Empty(t, floors.Missed(met, points))
	met.Closed--
	want := "workflow runs that closed: 999, and at least 1000 were to be met"
	require.Equal(t, []string{want}, floors.Missed(met, points))
	met.Verbs["retry"]--
	met.Kinds["command"] = 0
	points["vote.voted"] = 0
	require.Len(t, floors.Missed(met, points), 4)
	all := len(judge.Kinds()) + len(judge.Verbs()) + len(crash.FlowPoints()) + 2
	require.Len(t, floors.Missed(judge.Tally{}, nil), all)
}

func TestAFloorOfFaultsThatIsMissedIsNamed(t *testing.T) {
	floors := fault.FloorsOf(30 * time.Minute)
	asked := slices.Concat(fault.Kinds(true, true), fault.WorkerKinds(), []fault.Kind{fault.KillFlow})
	met := func() fault.Struck {
		s := fault.Struck{
			Asked: asked, Counts: map[fault.Kind]int{}, Fields: map[string]int{},
			Steps: map[fault.Kind]int{fault.ClockStep: floors.Steps, fault.StoreStep: floors.Steps},
		}
		for _, k := range fault.Kinds(true, true) {
			s.Counts[k] = floors.Turns
		}
		for _, k := range append(fault.WorkerKinds(), fault.KillFlow) {
			s.Counts[k] = floors.Beside
		}
		for _, field := range maximal.Fields() {
			s.Fields[field] = floors.Fields
		}
		return s
	}
	require.Empty(t, floors.MissedFaults(met()))

	for want, miss := range map[string]func(s *fault.Struck){
		"the fault freeze a node: 11, and at least 12 were to be met": func(s *fault.Struck) { s.Counts[fault.Freeze]-- },
		"the fault an error after commits, of one job: 7, and at least 8 were to be met": func(s *fault.Struck) {
			s.Counts[fault.AfterRow] = floors.Answers - 1
		},
		"the fault freeze a worker: 19, and at least 20 were to be met": func(s *fault.Struck) {
			s.Counts[fault.WorkerFreeze]--
		},
		"the fault kill -9 a node inside a transaction of workflows: 0, and at least 20 were to be met": func(
			s *fault.Struck,
		) {
			delete(s.Counts, fault.KillFlow)
		},
		"maximal values of the field routing.labels: 49, and at least 50 were to be met": func(s *fault.Struck) {
			s.Fields["routing.labels"]--
		},
		"an alert that was open at the fault step of the store's clock: 9, and at least 10 were to be met": func(
			s *fault.Struck,
		) {
			s.Steps[fault.StoreStep]--
		},
		"an alert that was open at the fault step of a node's wall clock: 0, and at least 10 were to be met": func(
			s *fault.Struck,
		) {
			s.Steps[fault.ClockStep] = 0
		},
	} {
		s := met()
		miss(&s)
		require.Equal(t, []string{want}, floors.MissedFaults(s))
	}
	all := len(asked) + len(maximal.Fields()) + 2
	require.Len(t, floors.MissedFaults(fault.Struck{Asked: asked}), all, "each floor can be missed")
	require.Empty(t, floors.MissedFaults(fault.Struck{}), "a test whose rounds are given has drawn no kinds")
	mysql := slices.DeleteFunc(slices.Clone(asked), func(k fault.Kind) bool { return k == fault.StoreStep })
	require.Len(t, floors.MissedFaults(fault.Struck{Asked: mysql}), all-2, "neither it nor its alerts are asked for")
}

// halfAnHour is how many rounds a half hour with workflows has.
const halfAnHour = 148

// A half hour comes to its floors whatever the seed is; answers that meet no statement are left aside.
func TestAPlanOfHalfAnHourHasEachKindOftenEnough(t *testing.T) {
	floors := fault.FloorsOf(30 * time.Minute)
	for seed := range int64(50) {
		drawn := map[fault.Kind]int{}
		for _, round := range fault.Plan(fault.Terms{
			Seed: seed, Nodes: 3, Rounds: halfAnHour, Most: 9, Longest: 4 * time.Second, Outage: 15 * time.Second,
			Kinds: fault.Kinds(true, true), Flows: true,
		}) {
			for _, b := range round.Blows {
				drawn[b.Kind]++
			}
		}
		for _, k := range fault.Kinds(true, true) {
			require.GreaterOrEqual(t, drawn[k], floors.Turns, "seed %d: %s", seed, k)
		}
		require.Greater(t, drawn[fault.KillFlow], halfAnHour)
	}
}

// A report says what was missed, with workflows and without.
func TestAReportSaysWhichFloorsWereMissed(t *testing.T) {
	r := fault.Report{
		Took: 30 * time.Minute, Asked: []fault.Kind{fault.Kill}, Counts: map[fault.Kind]int{fault.Kill: 3},
		Maximal: &crash.Maximal{Stored: map[string]int{"name": 50}},
	}
	const few = "the fault kill -9 a node: 3, and at least 12 were to be met"
	require.Contains(t, r.Missed(), few)
	require.Len(t, r.Missed(), len(maximal.Fields()), "the kind, and all fields but one")
	require.Contains(t, r.String(), "too little of "+few)
	r.Flows = &judge.Tally{}
	require.Contains(t, r.Missed(), few)
	require.Greater(t, len(r.Missed()), len(maximal.Fields()))
	require.Empty(t, fault.Report{Took: time.Hour, Maximal: &crash.Maximal{}}.Missed(), "its rounds were given")
}
