package fault_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

func TestFloorsGrowWithTheMinutes(t *testing.T) {
	require.Equal(t, fault.Floors{Runs: 20_000, Kinds: 200, Verbs: 200, Points: 20}, fault.FloorsOf(30*time.Minute))
	require.Equal(t, fault.FloorsOf(30*time.Minute), fault.FloorsOf(time.Hour))
	require.Equal(t, fault.Floors{Runs: 1000, Kinds: 10, Verbs: 10, Points: 1}, fault.FloorsOf(3*time.Minute))
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
