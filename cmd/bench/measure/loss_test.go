package measure

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// on is an entry at a node, so many ms after noon.
func on(node uint8, job uint32, attempt uint8, ms int64, long bool) StartEvent {
	s := at(job, 0, attempt, ms)
	s.Node, s.Long = node, long
	return s
}

func TestGapsAreOfTheVictimsPartitions(t *testing.T) {
	lost := Loss{Victim: 1, At: noon.UnixMicro() + 1_000_000}
	lost.Owned.Add(5)
	lost.Owned.Add(6)
	lost.Owned.Add(9) // without jobs
	ofJobs := []int{5, 6, 7}
	require.Equal(t, 2, lost.Partitions(ofJobs))
	entries := []StartEvent{
		on(2, 0, 1, 900, false),  // before the loss
		on(1, 0, 1, 1100, false), // the victim's last words
		on(2, 2, 1, 1200, false), // a partition of another
		on(2, 0, 2, 1300, false), // a retry
		on(3, 0, 1, 4000, false),
		on(2, 0, 1, 3000, false),
	}
	require.Equal(t, []float64{2000}, lost.Gaps(entries, ofJobs), "the other partition has no fire yet")
	got := lost.Gaps(append(entries, on(3, 1, 1, 1500, false)), ofJobs)
	slices.Sort(got)
	require.Equal(t, []float64{500, 2000}, got)
}

func TestRunsOfTheVictimAreThoseThatSurelyLasted(t *testing.T) {
	lost := Loss{Victim: 1, At: noon.UnixMicro() + 10_000_000}
	entries := []StartEvent{
		on(1, 0, 1, 9500, true),
		on(1, 1, 2, 9600, true),
		on(1, 2, 1, 9700, false), // ended at once
		on(1, 3, 1, 8000, true),  // may have ended
		on(2, 4, 1, 9500, true),  // of another
	}
	require.Len(t, lost.Held(entries), 2)
	require.Empty(t, lost.RetryDelays(entries))
	entries = append(entries, on(2, 1, 2, 10_100, true), on(3, 0, 2, 12_000, true), on(3, 0, 3, 13_000, true))
	require.Equal(t, []float64{2000}, lost.RetryDelays(entries), "a run begins again with its next attempt")
}

func TestRecoveryIsTheFirstFireAndTheLastLateOne(t *testing.T) {
	o := Outage{Gone: noon.UnixMicro(), Back: noon.UnixMicro() + 2_000_000}
	entries := []StartEvent{
		at(0, 0, 1, 100), at(0, 0, 1, 2500), at(0, 1, 1, 3000), at(0, 1, 2, 9000),
		at(0, 6, 1, 100),
	}
	first, backlog := o.Recovery(entries)
	require.Equal(t, []float64{500, 2000}, []float64{first, backlog})
	first, backlog = o.Recovery(nil)
	require.Equal(t, []float64{0, 0}, []float64{first, backlog})
}
