package alerting

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A flood of one group leaves the others their turn, and the events of a group stay in order.
func TestGroupsTakeTurnsWithTheirEvents(t *testing.T) {
	var events []entity.Event
	add := func(group string, n int) {
		for range n {
			seq := int64(len(events) + 1)
			events = append(events, entity.Event{
				Seq: seq, ID: fmt.Sprint(seq), Payload: fmt.Sprintf(`{"errorMessage":"\"group\":\"quiet\"","group":%q}`, group),
			})
		}
	}
	add("loud", 3000)
	add("quiet", 2)
	add("other", 1)
	got := inTurns(events)
	require.Len(t, got, len(events))
	var first []int64
	for _, event := range got[:6] {
		first = append(first, event.Seq)
	}
	require.Equal(t, []int64{1, 3001, 3003, 2, 3002, 3}, first)
	last := int64(0)
	for _, event := range got {
		if groupOf(event) == "loud" {
			require.Greater(t, event.Seq, last)
			last = event.Seq
		}
	}
	require.Equal(t, int64(3000), last)
	require.Empty(t, groupOf(entity.Event{Payload: `{"nodeId":"a"}`}))
}
