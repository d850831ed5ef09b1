package statistics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// spans draws spans of a few ms to years: some narrow, some so wide that cells merge.
func spans(t *rapid.T) []time.Duration {
	widest := rapid.Float64Range(0, 12).Draw(t, "digits")
	ms := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(math.Pow(10, rapid.Float64Range(0, widest).Draw(t, "ms"))-1) * time.Millisecond
	})
	return rapid.SliceOfN(ms, 0, 500).Draw(t, "spans")
}

func histogramOf(spans []time.Duration) *statistics.Histogram {
	h := &statistics.Histogram{}
	for _, d := range spans {
		h.Add(d)
	}
	return h
}

func TestTheSameSpansMakeTheSameHistogram(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := spans(t)
		want := histogramOf(all).Append(nil)

		shuffled := rapid.Permutation(all).Draw(t, "order")
		got := &statistics.Histogram{}
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "part")
			part := histogramOf(shuffled[:n])
			if rapid.Bool().Draw(t, "stored") {
				part = stored(t, part)
			}
			got.Merge(part)
			shuffled = shuffled[n:]
		}
		require.Equal(t, want, got.Append(nil))
	})
}

func stored(t require.TestingT, h *statistics.Histogram) *statistics.Histogram {
	got := &statistics.Histogram{}
	require.NoError(t, statistics.DecodeHistograms(h.Append(nil), got))
	require.Equal(t, h.Count(), got.Count())
	return got
}

func TestQuantilesAreAsExactAsTheySay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := spans(t)
		h := histogramOf(all)
		require.EqualValues(t, len(all), h.Count())
		if len(all) == 0 {
			require.Zero(t, h.Quantile(0.5))
			return
		}
		require.LessOrEqual(t, len(h.Append(nil)), 602)
		slices.Sort(all)
		for _, q := range []float64{-1, 0, 0.25, 0.5, 0.95, 0.99, 1, 2} {
			rank := int(math.Ceil(min(max(q, 0), 1) * float64(len(all))))
			exact := float64(all[max(rank, 1)-1].Milliseconds())
			require.InDelta(t, exact, float64(h.Quantile(q).Milliseconds()), exact*h.Error()+0.5, "quantile %v", q)
		}
	})
}

// What one job takes in an hour lies within 7 octaves; then a quantile is within 4.5 %.
// Up to 15 octaves it is within 9.1 %, and what a cluster runs is within 19 %.
func TestHowExactQuantilesAre(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		from, octaves, most float64
	}{{60_000, 7, 0.045}, {1000, 14, 0.091}, {1, 22, 0.19}, {1, 30, 0.42}} {
		h := &statistics.Histogram{}
		for range 100_000 {
			h.Add(time.Duration(c.from*math.Exp2(r.Float64()*c.octaves)) * time.Millisecond)
		}
		require.LessOrEqual(t, h.Append(nil)[1], byte(60), "cells of %v octaves", c.octaves)
		require.LessOrEqual(t, h.Error(), c.most, "%v octaves", c.octaves)
		require.InEpsilon(t, c.from*math.Exp2(c.octaves/2), h.Quantile(0.5).Milliseconds(), c.most+0.05)
	}
}

func TestSmallSpansAreExact(t *testing.T) {
	t.Parallel()
	for ms := range 9 {
		d := time.Duration(ms) * time.Millisecond
		require.Equal(t, d, histogramOf([]time.Duration{d + 999*time.Microsecond}).Quantile(0.5))
	}
	require.Zero(t, histogramOf([]time.Duration{-time.Hour}).Quantile(1))
	require.InEpsilon(t, 34.8*365*24*3600, histogramOf([]time.Duration{math.MaxInt64}).Quantile(1).Seconds(), 0.05)
}

func TestCountsDoNotOverflow(t *testing.T) {
	t.Parallel()
	h := histogramOf([]time.Duration{time.Second, time.Hour})
	for range 70 {
		h.Merge(stored(t, h))
	}
	require.EqualValues(t, math.MaxInt64, h.Count())
	require.InEpsilon(t, time.Second, h.Quantile(0.4), 0.05)
	stored(t, h)
}

func TestOldAndHostileHistogramsAreRefused(t *testing.T) {
	t.Parallel()
	good := histogramOf([]time.Duration{0, time.Second, 2 * time.Second}).Append(nil)
	for n := 1; n < len(good); n++ {
		require.ErrorIs(t, statistics.DecodeHistograms(good[:n], &statistics.Histogram{}), statistics.ErrCorrupt, "%d bytes",
			n)
	}
	for name, data := range map[string][]byte{
		"merged too often": {4, 0},
		"too many cells":   {0, 61},
		"a cell twice":     {0, 2, 8, 1, 0, 1},
		"a cell of none":   {0, 1, 8, 0},
		"a cell too far":   {1, 1, 0xff, 0x01, 1},
		"bytes behind":     {0, 1, 8, 1, 0},
		"a count too high": {0, 1, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	} {
		h := histogramOf([]time.Duration{time.Hour})
		require.ErrorIs(t, statistics.DecodeHistograms(data, h), statistics.ErrCorrupt, name)
		require.EqualValues(t, 1, h.Count(), "it stays as it was")
	}
	h := histogramOf([]time.Duration{time.Hour})
	require.NoError(t, statistics.DecodeHistograms(nil, h))
	require.Zero(t, h.Count())
}

func FuzzDecodeHistograms(f *testing.F) {
	f.Add([]byte{})
	f.Add(histogramOf([]time.Duration{time.Hour}).Append(histogramOf([]time.Duration{0, time.Second}).Append(nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var row statistics.Row
		if err := row.DecodeHistograms(data); err != nil {
			require.ErrorIs(t, err, statistics.ErrCorrupt)
			return
		}
		row.Merge(&row)
		row.Duration.Add(time.Minute)
		row.Duration.Quantile(0.5)
		require.NoError(t, row.DecodeHistograms(row.AppendHistograms(nil)), "what was read can be written and read")
	})
}
