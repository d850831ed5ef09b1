package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// on is an entry at a node, so many ms after noon.
func on(node uint8, job uint32, attempt uint8, ms int64, long bool) sighting {
	s := at(job, 0, attempt, ms)
	s.node, s.long = node, long
	return s
}

func TestGapsAreOfTheVictimsPartitions(t *testing.T) {
	lost := loss{victim: 1, at: noon.UnixMicro() + 1_000_000}
	lost.owned.add(5)
	lost.owned.add(6)
	lost.owned.add(9) // without jobs
	ofJobs := []int{5, 6, 7}
	require.Equal(t, 2, lost.partitions(ofJobs))
	entries := []sighting{
		on(2, 0, 1, 900, false),  // before the loss
		on(1, 0, 1, 1100, false), // the victim's last words
		on(2, 2, 1, 1200, false), // a partition of another
		on(2, 0, 2, 1300, false), // a retry
		on(3, 0, 1, 4000, false),
		on(2, 0, 1, 3000, false),
	}
	require.Equal(t, []float64{2000}, lost.gaps(entries, ofJobs), "the other partition has no fire yet")
	got := lost.gaps(append(entries, on(3, 1, 1, 1500, false)), ofJobs)
	slices.Sort(got)
	require.Equal(t, []float64{500, 2000}, got)
}

func TestRunsOfTheVictimAreThoseThatSurelyLasted(t *testing.T) {
	lost := loss{victim: 1, at: noon.UnixMicro() + 10_000_000}
	entries := []sighting{
		on(1, 0, 1, 9500, true),
		on(1, 1, 2, 9600, true),
		on(1, 2, 1, 9700, false), // ended at once
		on(1, 3, 1, 8000, true),  // may have ended
		on(2, 4, 1, 9500, true),  // of another
	}
	require.Len(t, lost.held(entries), 2)
	require.Empty(t, lost.again(entries))
	entries = append(entries, on(2, 1, 2, 10_100, true), on(3, 0, 2, 12_000, true), on(3, 0, 3, 13_000, true))
	require.Equal(t, []float64{2000}, lost.again(entries), "a run begins again with its next attempt")
}

func TestRecoveryIsTheFirstFireAndTheLastLateOne(t *testing.T) {
	o := outage{gone: noon.UnixMicro(), back: noon.UnixMicro() + 2_000_000}
	entries := []sighting{at(0, 0, 1, 100), at(0, 0, 1, 2500), at(0, 1, 1, 3000), at(0, 1, 2, 9000), at(0, 6, 1, 100)}
	first, backlog := o.recovery(entries)
	require.Equal(t, []float64{500, 2000}, []float64{first, backlog})
	first, backlog = o.recovery(nil)
	require.Equal(t, []float64{0, 0}, []float64{first, backlog})
}

// started is a start of a job of that priority, and when it had been recorded
// and taken, all in ms after noon.
func started(node uint8, priority, recorded, taken, at int) sighting {
	return sighting{
		node: node, job: uint32(priority - 1), nominal: noon.UnixMilli(), recorded: uint32(recorded), taken: uint32(taken),
		at: noon.Add(time.Duration(at) * time.Millisecond).UnixMicro(),
	}
}

func TestAWaitThatNobodyRecordedCountsByDueTime(t *testing.T) {
	r := Result{BatchSize: 1}
	r.inversions([]sighting{started(0, 10, 0, 0, 0), started(0, 2, 5, 300, 300), started(0, 9, 700, 700, 700)})
	require.InDelta(t, 50, r.Inversions.DuePercent, 0.001)
	require.Zero(t, r.Inversions.Percent)
}

func TestInversionsAreStartsBeforeOnesThatHadWaited(t *testing.T) {
	for name, c := range map[string]struct {
		starts  []sighting
		percent float64
		sure    float64
	}{
		"in order":                        {[]sighting{started(1, 9, 5, 300, 300), started(1, 2, 5, 400, 400)}, 0, 0},
		"before one that waited":          {[]sighting{started(1, 2, 5, 300, 300), started(1, 9, 5, 400, 400)}, 50, 0},
		"before one of a committed batch": {[]sighting{started(1, 2, 0, 300, 300), started(1, 9, 0, 400, 400)}, 50, 50},
		"before one that waited little":   {[]sighting{started(1, 2, 5, 300, 300), started(1, 9, 150, 400, 400)}, 0, 0},
		"before one of the same":          {[]sighting{started(1, 9, 0, 300, 300), started(1, 9, 0, 400, 400)}, 0, 0},
		"before one of another node":      {[]sighting{started(1, 2, 0, 300, 300), started(2, 9, 0, 400, 400)}, 100, 100},
		"before one of its batch":         {[]sighting{started(1, 2, 0, 280, 300), started(1, 9, 0, 280, 302)}, 0, 0},
		"before one that nobody recorded": {[]sighting{started(1, 2, 5, 300, 300), started(1, 9, 700, 700, 700)}, 0, 0},
		"before a direct start":           {[]sighting{started(1, 2, 5, 300, 900), started(1, 9, 600, 600, 950)}, 0, 0},
	} {
		// One batch of each node comes before.
		r := Result{BatchSize: 1, PerNode: []NodeFigures{{}, {}}}
		r.inversions(append([]sighting{started(1, 10, 0, 0, 0), started(2, 10, 0, 0, 0)}, c.starts...))
		require.NotNil(t, r.PerNode[0].Inversions, name)
		require.InDelta(t, c.percent, r.PerNode[0].Inversions.Percent, 0.001, name)
		require.GreaterOrEqual(t, r.PerNode[0].Inversions.DuePercent, c.percent, name)
		require.InDelta(t, c.sure, r.PerNode[0].Inversions.SurePercent, 0.001, name)
	}
}
