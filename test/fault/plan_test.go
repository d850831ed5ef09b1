package fault_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
)

func terms(seed int64) fault.Terms {
	return fault.Terms{
		Seed: seed, Nodes: 3, Rounds: 200, Longest: 20 * time.Second, Outage: 30 * time.Second,
		Kinds: fault.Kinds(true, true),
	}
}

func TestTheSameSeedGivesTheSamePlan(t *testing.T) {
	require.Equal(t, fault.Plan(terms(7)), fault.Plan(terms(7)))
	require.NotEqual(t, fault.Plan(terms(7)), fault.Plan(terms(8)))
	longer := terms(7)
	longer.Rounds = 300
	require.Equal(t, fault.Plan(terms(7)), fault.Plan(longer)[:200], "a longer run begins as the shorter one")
}

func TestEveryKindComesAndNoPairUndoesItself(t *testing.T) {
	for seed := range int64(50) {
		seen, pairs := map[fault.Kind]int{}, 0
		for _, round := range fault.Plan(terms(seed)) {
			for _, b := range round.Blows {
				seen[b.Kind]++
				require.Less(t, b.Node, 3)
				require.LessOrEqual(t, b.For, 30*time.Second)
				if b.Kind == fault.Freeze {
					require.LessOrEqual(t, b.For, 15*time.Second)
				}
			}
			require.GreaterOrEqual(t, round.Rest, time.Second)
			if len(round.Blows) < 2 {
				continue
			}
			pairs++
			process := map[fault.Kind]bool{
				fault.Kill: true, fault.Freeze: true, fault.Restart: true, fault.Twin: true,
				fault.KillAt: true,
			}
			met := map[int]bool{}
			for _, b := range round.Blows {
				if process[b.Kind] {
					require.False(t, met[b.Node], "%v", round)
					met[b.Node] = true
				}
			}
		}
		for _, k := range fault.Kinds(true, true) {
			require.Greater(t, seen[k], 5, "seed %d: %s", seed, k)
		}
		require.Greater(t, pairs, 50)
	}
}

func TestWorkflowsAreKilledInMostRounds(t *testing.T) {
	plain, flows := terms(7), terms(7)
	flows.Most, flows.Flows = 9, true
	for _, round := range fault.Plan(plain) {
		for _, b := range round.Blows {
			require.NotEqual(t, fault.KillFlow, b.Kind)
		}
	}
	rounds, kills := 0, 0
	for _, round := range fault.Plan(flows) {
		met := map[int]int{}
		for _, b := range round.Blows {
			switch b.Kind {
			case fault.KillFlow:
				kills++
				met[b.Node]++
			case fault.Kill, fault.KillAt, fault.Freeze, fault.Restart, fault.Twin:
				met[b.Node]++
			}
		}
		for node, n := range met {
			require.Equal(t, 1, n, "node %d of %v", node, round)
		}
		rounds++
	}
	require.Greater(t, kills, rounds, "more than one in a round")
}

func TestEachAnswerHasItsKind(t *testing.T) {
	numbers := map[string]bool{}
	for _, round := range fault.Plan(terms(1)) {
		for _, b := range round.Blows {
			if strings.Contains(string(b.Kind), "error") {
				numbers[strings.Fields(fault.Round{Blows: []fault.Blow{b}}.String()[len(b.Kind):])[0]] = true
				require.Equal(t, 2*time.Second, b.For)
			}
		}
	}
	require.Len(t, numbers, len(answer.Numbers()), "each number comes")
}
