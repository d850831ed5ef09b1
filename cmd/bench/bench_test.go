package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPercentilesAreNearestRank(t *testing.T) {
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(100 - i)
	}
	l := summarize(values)
	require.Equal(t, &Lateness{P50: 50, P99: 99, Max: 100}, l)
	require.Equal(t, &Lateness{P50: 7, P99: 7, Max: 7}, summarize([]float64{7}))
	require.Nil(t, summarize(nil))
}

func TestTheObserverTellsEveryEntry(t *testing.T) {
	var seen []sighting
	now := clocktest.NewManual(noon.Add(3 * time.Millisecond))
	o := &observer{bench: &bench{clock: now}, now: now.Now, see: func(some ...sighting) { seen = append(seen, some...) }}
	enter := func(name string, attempt int) entity.Status {
		return o.Run(t.Context(), entity.Run{
			Job:       &entity.Job{Name: name, Class: jobClass},
			Execution: &entity.Execution{ScheduledTime: noon, CreateTime: noon.Add(time.Millisecond), UpdateTime: noon.Add(2 * time.Millisecond), Attempt: attempt},
		}, nil).Status
	}
	require.Equal(t, entity.StatusSuccess, enter("bench 41", 2))
	require.Equal(t, []sighting{{nominal: noon.UnixMilli(), at: noon.UnixMicro() + 3000, job: 41, recorded: 1, taken: 2, attempt: 2}}, seen)
	require.Equal(t, entity.StatusFailed, enter("somebody else's", 1))
	require.Len(t, seen, 1)
}

// counter is a Reporter that counts lines.
type counter struct{ lines atomic.Int64 }

func (c *counter) Log(entity.LogType, string) { c.lines.Add(1) }
func (c *counter) Progress(int)               {}
func (c *counter) Checkpoint(string)          {}
func (c *counter) Waits() (begins func())     { return func() {} }

func TestTalkersTalkOnlyWhenTheyAreToldTo(t *testing.T) {
	now := clocktest.NewManual(noon)
	b, g, said := &bench{clock: now}, newGossip(), &counter{}
	ended := make(chan entity.Outcome)
	go func() { ended <- g.run(t.Context(), b, said) }()
	require.Eventually(t, func() bool { return g.began.Load() == 1 }, 10*time.Second, time.Millisecond)
	ticks := func(until func() bool) {
		require.Eventually(t, func() bool {
			now.Advance(talkEvery)
			return until()
		}, 10*time.Second, time.Millisecond)
	}
	n := 0
	ticks(func() bool { n++; return n == 20 })
	require.Zero(t, said.lines.Load())
	g.aloud.Store(true)
	ticks(func() bool { return said.lines.Load() > 2 })
	require.InDelta(t, g.lines.Load(), said.lines.Load(), 1)
	close(g.over)
	require.Equal(t, entity.StatusSuccess, (<-ended).Status)
}

func small(t *testing.T, name string) (Result, string) {
	t.Helper()
	dir := t.TempDir()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{"dataDir": dir, "executor.slots": "256"}})
	require.NoError(t, err)
	r, err := Run(t.Context(), cfg, Options{Name: name, Duration: time.Second, Jobs: 500, Rate: 50, Fires: 20, Tails: 5, Progress: io.Discard})
	require.NoError(t, err)
	return r, dir
}

func TestASmallBenchLosesNothingAndLeavesNothing(t *testing.T) {
	for _, name := range []string{"lateness", "stampede"} {
		t.Run(name, func(t *testing.T) {
			r, dir := small(t, name)
			require.Positive(t, r.Planned)
			require.Zero(t, r.Lost)
			require.Zero(t, r.Doubled)
			require.NotNil(t, r.LatenessMs)
			require.GreaterOrEqual(t, r.LatenessMs.P50, 0.0, "nothing starts early")
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "the scratch database is gone")
		})
	}
}

func TestASmallBenchOfTheAPIHasNoErrors(t *testing.T) {
	r, _ := small(t, "api")
	require.InDelta(t, 50, r.API.Calls, 1)
	require.Zero(t, r.API.Errors)
	require.Positive(t, r.API.Reads.P50)
	require.Positive(t, r.API.Writes.P50)
	require.Positive(t, r.Planned)
	require.Zero(t, r.Lost+r.Doubled)
}

func TestASmallBenchFollowsEveryLine(t *testing.T) {
	r, _ := small(t, "tail")
	require.Equal(t, 6, r.Tail.Tails)
	require.Positive(t, r.Tail.Lines)
	require.Equal(t, r.Planned, r.Tail.Lines)
	require.Zero(t, r.Lost+r.Doubled)
	require.Zero(t, r.Tail.Reconnects)
}

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
		f := &tail{b: &bench{clock: clocktest.NewManual(noon)}, run: "r"}
		require.NoError(t, f.read(strings.NewReader(c.stream)), name)
		require.True(t, f.ended, name)
		_, planned, lost, disorder, err := (&tails{all: []*tail{f}}).sum(&newsroom{said: map[string]int{"r": 3}})
		require.NoError(t, err)
		require.Equal(t, []int{3, c.lost, c.disorder}, []int{planned, lost, disorder}, name)
	}
}

func TestTheMixIsSeventyReadsAndThirtyWrites(t *testing.T) {
	writes := 0
	for _, k := range shares() {
		if k.write {
			writes++
		}
	}
	require.Len(t, shares(), 100)
	require.Equal(t, 30, writes)
}

func TestTheJSONHasTheNamesOfTheContract(t *testing.T) {
	r := Result{
		Name: "throughput", Store: "s", Nodes: 1, ExecutionsPerSecond: 1, CeilingPerSecond: 2, ShareOfCeiling: 0.5,
		LatenessMs: &Lateness{}, LastStartMs: 1,
	}
	out, err := json.Marshal(r)
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(out, &keys))
	for _, key := range []string{
		"name", "store", "nodes", "executionsPerSecond", "ceilingPerSecond", "shareOfCeiling", "latenessMs",
		"planned", "lost", "doubled", "lastStartMs", "cpuPercent", "rssMb",
	} {
		require.Contains(t, keys, key)
	}
}

func TestAnUnknownBenchIsNamedWithTheKnownOnes(t *testing.T) {
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{"dataDir": t.TempDir()}})
	require.NoError(t, err)
	_, err = Run(t.Context(), cfg, Options{Name: "speed", Progress: io.Discard})
	require.ErrorContains(t, err, "throughput")
}
