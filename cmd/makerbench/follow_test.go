package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAFollowerSeesWhatIsMissingAndWhatIsOutOfOrder(t *testing.T) {
	line := func(id int, text string) string {
		return fmt.Sprintf("id: %d\nevent: line\ndata: {\"seq\":%d,\"line\":\"%s\"}\n\n", id, id, text)
	}
	const end = "event: end\ndata: {}\n\n"
	for name, c := range map[string]struct {
		stream         string
		lost, disorder int
	}{
		"good":       {": following\n\n" + line(1, "0 5") + line(2, "1 5") + line(3, "2 6") + end, 0, 0},
		"a gap":      {line(1, "0 5") + line(3, "2 6") + end, 1, 1},
		"repeated":   {line(1, "0 5") + line(1, "0 5") + line(2, "1 5") + line(3, "2 6") + end, 0, 1},
		"turned":     {line(1, "0 5") + line(2, "2 6") + line(3, "1 5") + end, 0, 2},
		"not a line": {line(1, "0 5") + line(2, "who knows") + line(3, "2 6") + end, 0, 1},
	} {
		f := &follower{clock: clocktest.NewManual(noon), execution: "r"}
		require.NoError(t, f.read(strings.NewReader(c.stream)), name)
		require.True(t, f.ended, name)
		_, planned, lost, disorder, err := (&followers{all: []*follower{f}}).sum(&logWriters{written: map[string]int{"r": 3}})
		require.NoError(t, err)
		require.Equal(t, []int{3, c.lost, c.disorder}, []int{planned, lost, disorder}, name)
	}
}
