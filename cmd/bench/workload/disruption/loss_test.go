package disruption

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is an entry of a job's fire, so many ms late.
func at(job uint32, second int, attempt uint8, lateMs int64) measure.StartEvent {
	scheduled := noon.Add(time.Duration(second) * time.Second).UnixMilli()
	return measure.StartEvent{
		Job: job, ScheduledTime: scheduled, Attempt: attempt, At: (scheduled + lateMs) * 1000,
		Node: 1,
	}
}

// on is an entry at a node, so many ms after noon.
func on(node uint8, job uint32, attempt uint8, ms int64, long bool) measure.StartEvent {
	s := at(job, 0, attempt, ms)
	s.Node, s.Long = node, long
	return s
}

func TestGapsAreOfTheVictimsPartitions(t *testing.T) {
	lost := nodeLoss{victim: 1, at: noon.UnixMicro() + 1_000_000}
	lost.owned.Add(5)
	lost.owned.Add(6)
	lost.owned.Add(9) // without jobs
	ofJobs := []int{5, 6, 7}
	require.Equal(t, 2, lost.partitions(ofJobs))
	entries := []measure.StartEvent{
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
	lost := nodeLoss{victim: 1, at: noon.UnixMicro() + 10_000_000}
	entries := []measure.StartEvent{
		on(1, 0, 1, 9500, true),
		on(1, 1, 2, 9600, true),
		on(1, 2, 1, 9700, false), // ended at once
		on(1, 3, 1, 8000, true),  // may have ended
		on(2, 4, 1, 9500, true),  // of another
	}
	require.Len(t, lost.held(entries), 2)
	require.Empty(t, lost.retryDelays(entries))
	entries = append(entries, on(2, 1, 2, 10_100, true), on(3, 0, 2, 12_000, true), on(3, 0, 3, 13_000, true))
	require.Equal(t, []float64{2000}, lost.retryDelays(entries), "a run begins again with its next attempt")
}

func TestRecoveryIsTheFirstFireAndTheLastLateOne(t *testing.T) {
	o := outage{gone: noon.UnixMicro(), back: noon.UnixMicro() + 2_000_000}
	entries := []measure.StartEvent{
		at(0, 0, 1, 100), at(0, 0, 1, 2500), at(0, 1, 1, 3000), at(0, 1, 2, 9000),
		at(0, 6, 1, 100),
	}
	first, backlog := o.recovery(entries)
	require.Equal(t, []float64{500, 2000}, []float64{first, backlog})
	first, backlog = o.recovery(nil)
	require.Equal(t, []float64{0, 0}, []float64{first, backlog})
}
