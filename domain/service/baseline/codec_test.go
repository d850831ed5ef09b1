package baseline_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// It makes no difference how often a baseline is stored and read between two runs.
func TestAStoredBaselineLearnsAndJudgesAlike(t *testing.T) {
	t.Parallel()
	all := histories()
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(all).Draw(t, "history")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kept, stored := &baseline.State{}, &baseline.State{}
		every := rapid.IntRange(1, 50).Draw(t, "every")
		for i := range rapid.IntRange(0, 1200).Draw(t, "runs") {
			run, _ := h.run(r, i)
			if i%every == 0 {
				read, err := baseline.Decode(stored.Append(nil))
				require.NoError(t, err)
				require.Equal(t, stored, read)
				stored = read
			}
			want, found := kept.Evaluate(run)
			got, foundToo := stored.Evaluate(run)
			require.Equal(t, found, foundToo)
			require.Equal(t, want, got)
			kept.Learn(run)
			stored.Learn(run)
		}
		require.Equal(t, kept, stored)
	})
}

func TestABaselineTakesAtMost256Bytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var s baseline.State
	largest := 0
	for i := range 20_000 { // each hour and weekday, outliers of all sizes
		run := baseline.Run{
			Start: begin.Add(time.Duration(i) * 5 * time.Hour), Status: entity.StatusSuccess,
			Version:  math.MaxInt32 - 100 + i/200,
			Duration: time.Duration(math.Exp(math.Log(60_000)+0.1*r.NormFloat64())) * time.Millisecond,
		}
		switch r.IntN(10) {
		case 0:
			run = times(run, math.Exp(10*r.Float64()))
		case 1:
			run = times(run, math.Exp(-5*r.Float64()))
		case 2:
			run.Status = entity.StatusFailed
		}
		s.Learn(run)
		largest = max(largest, len(s.Append(nil)))
		if i == 5 {
			require.LessOrEqual(t, largest, 90)
		}
	}
	require.Greater(t, largest, 200, "the test fills a baseline")
	require.LessOrEqual(t, largest, baseline.MaxSize)
}

func TestOldAndHostileBaselinesAreRefused(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{0, 5, 10, 800} {
		good := after(histories()[13], runs).Append(nil)
		for n := range good {
			_, err := baseline.Decode(good[:n])
			require.ErrorIs(t, err, baseline.ErrCorrupt, "%d bytes of %d runs", n, runs)
		}
		_, err := baseline.Decode(append(good, 0))
		require.ErrorIs(t, err, baseline.ErrCorrupt, "a byte more")
		good[0]++
		_, err = baseline.Decode(good[:len(good):len(good)])
		require.ErrorIs(t, err, baseline.ErrCorrupt, "another version")
	}
}

func TestRunsOfAnySizeAreLearned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s baseline.State
		for range rapid.IntRange(0, 100).Draw(t, "runs") {
			run := baseline.Run{
				Start:    time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "start"), 0).UTC(),
				Duration: time.Duration(rapid.Int64().Draw(t, "duration")),
				Status:   rapid.SampledFrom(entity.Statuses()).Draw(t, "status"),
				Version:  rapid.Int().Draw(t, "version"),
			}
			f, _ := s.Evaluate(run)
			_ = f.Sentence()
			deadline := run.Start.Add(time.Duration(rapid.Int64().Draw(t, "deadline")))
			_, _ = s.AtRisk(run.Start, run.Start.Add(run.Duration), deadline)
			s.Learn(run)
			read, err := baseline.Decode(s.Append(nil))
			require.NoError(t, err)
			require.Equal(t, &s, read)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, runs := range []int{0, 5, 800} {
		f.Add(after(histories()[13], runs).Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := baseline.Decode(data)
		if err != nil {
			require.ErrorIs(t, err, baseline.ErrCorrupt)
			return
		}
		for i := range 3 {
			run := ran(i, time.Duration(i+1)*time.Minute)
			finding, _ := s.Evaluate(run)
			_ = finding.Sentence()
			_, _ = s.AtRisk(run.Start, run.Start, run.Start.Add(time.Hour))
			s.Learn(run)
		}
		stored := s.Append(nil)
		require.LessOrEqual(t, len(stored), baseline.MaxSize)
		_, err = baseline.Decode(stored)
		require.NoError(t, err)
	})
}

func BenchmarkJudgeAndLearn(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	all := make([]baseline.Run, 1000)
	for i := range all {
		all[i], _ = ordinary.run(r, i)
	}
	var s baseline.State
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_, _ = s.Evaluate(all[i%len(all)])
		s.Learn(all[i%len(all)])
		i++
	}
}

func BenchmarkStore(b *testing.B) {
	s := after(histories()[10], 1000)
	buf := make([]byte, 0, baseline.MaxSize)
	b.ReportAllocs()
	for b.Loop() {
		buf = s.Append(buf[:0])
		if _, err := baseline.Decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}
