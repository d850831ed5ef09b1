package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestTheObserverTellsEveryEntry(t *testing.T) {
	var seen []measure.StartEvent
	now := clocktest.NewManual(noon.Add(3 * time.Millisecond))
	o := NewObserver(now, func(some ...measure.StartEvent) { seen = append(seen, some...) }, nil)
	enter := func(name string, attempt int) entity.Status {
		return o.Run(t.Context(), entity.Run{
			Job: &entity.Job{Name: name, Class: JobClass},
			Execution: &entity.Execution{
				ScheduledTime: noon, CreateTime: noon.Add(time.Millisecond),
				UpdateTime: noon.Add(2 * time.Millisecond), Attempt: attempt,
			},
		}, nil).Status
	}
	require.Equal(t, entity.StatusSuccess, enter("bench 41", 2))
	require.Equal(t, []measure.StartEvent{{
		ScheduledTime: noon.UnixMilli(), At: noon.UnixMicro() + 3000, Job: 41,
		Recorded: 1, Taken: 2, Attempt: 2,
	}}, seen)
	require.Equal(t, entity.StatusFailed, enter("somebody else's", 1))
	require.Len(t, seen, 1)
}
