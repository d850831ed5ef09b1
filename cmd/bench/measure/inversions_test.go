package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// started is a start of a job of that priority, and when it had been recorded
// and taken, all in ms after noon.
func started(node uint8, priority, recorded, taken, at int) StartEvent {
	return StartEvent{
		Node: node, Job: uint32(priority - 1), ScheduledTime: noon.UnixMilli(), Recorded: uint32(recorded),
		Taken: uint32(taken),
		At:    noon.Add(time.Duration(at) * time.Millisecond).UnixMicro(),
	}
}

func TestAWaitThatNobodyRecordedCountsByDueTime(t *testing.T) {
	all, _, _ := CountInversions([]StartEvent{
		started(0, 10, 0, 0, 0), started(0, 2, 5, 300, 300),
		started(0, 9, 700, 700, 700),
	}, 1)
	require.InDelta(t, 50, all.DuePercent, 0.001)
	require.Zero(t, all.Percent)
}

func TestInversionsAreStartsBeforeOnesThatHadWaited(t *testing.T) {
	for name, c := range map[string]struct {
		starts  []StartEvent
		percent float64
		sure    float64
	}{
		"in order":                        {[]StartEvent{started(1, 9, 5, 300, 300), started(1, 2, 5, 400, 400)}, 0, 0},
		"before one that waited":          {[]StartEvent{started(1, 2, 5, 300, 300), started(1, 9, 5, 400, 400)}, 50, 0},
		"before one of a committed batch": {[]StartEvent{started(1, 2, 0, 300, 300), started(1, 9, 0, 400, 400)}, 50, 50},
		"before one that waited little":   {[]StartEvent{started(1, 2, 5, 300, 300), started(1, 9, 150, 400, 400)}, 0, 0},
		"before one of the same":          {[]StartEvent{started(1, 9, 0, 300, 300), started(1, 9, 0, 400, 400)}, 0, 0},
		"before one of another node":      {[]StartEvent{started(1, 2, 0, 300, 300), started(2, 9, 0, 400, 400)}, 100, 100},
		"before one of its batch":         {[]StartEvent{started(1, 2, 0, 280, 300), started(1, 9, 0, 280, 302)}, 0, 0},
		"before one that nobody recorded": {[]StartEvent{started(1, 2, 5, 300, 300), started(1, 9, 700, 700, 700)}, 0, 0},
		"before a direct start":           {[]StartEvent{started(1, 2, 5, 300, 900), started(1, 9, 600, 600, 950)}, 0, 0},
	} {
		// One batch of each node comes before.
		_, counted, seen := CountInversions(append([]StartEvent{started(1, 10, 0, 0, 0), started(2, 10, 0, 0, 0)},
			c.starts...), 1)
		require.Positive(t, seen[1], name)
		require.NotNil(t, counted[1], name)
		require.InDelta(t, c.percent, counted[1].Percent, 0.001, name)
		require.GreaterOrEqual(t, counted[1].DuePercent, c.percent, name)
		require.InDelta(t, c.sure, counted[1].SurePercent, 0.001, name)
	}
}
