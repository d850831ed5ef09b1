package baseline

import (
	"cmp"
	"math"
	"slices"
)

const (
	// outlierRuns and outlierHours are after how many runs, or how many hours if that
	// is sooner, an outlier counts half.
	outlierRuns  = 1500
	outlierHours = 90 * 24
	// enoughOutliers is the weight of outliers that make a value nothing new: two of
	// the last 3,000 runs, or of half a year.
	enoughOutliers = 1.25
	// outlierWidth is how near to each other two outliers are one.
	outlierWidth = 0.2
	// outlierMargin is how far beyond former outliers a value must lie to be news: half
	// as long again.
	outlierMargin = 0.4
	// maxOutliers bounds how many are remembered on each side. One of less than
	// leastOutlier is forgotten, and one of mostOutliers counts no more.
	maxOutliers  = 6
	leastOutlier = 0.1
	mostOutliers = 10_000
)

// outlier stands for runs that lay about as far from the usual.
type outlier struct {
	// level is the logarithm of their duration less the season's offset, in units of
	// outlierStep; of runs that were short its negative.
	level int16
	// weight is how many there were, the old ones less; 0 is none.
	weight float32
}

const outlierStep = 1.0 / 1024

// outliers remembers what lay far off on one side, so that what has happened twice
// lately is no news a third time. Far off means high: the farthest is first.
type outliers [maxOutliers]outlier

// fade lets all count less: one more run, so many hours after the one before.
func (o *outliers) fade(hours uint32) {
	o.scale(float32(math.Exp2(-max(1.0/outlierRuns, float64(hours)/outlierHours))))
}

func (o *outliers) scale(share float32) {
	kept := 0
	for _, one := range o {
		if one.weight *= share; one.weight >= leastOutlier {
			o[kept] = one
			kept++
		}
	}
	clear(o[kept:])
}

// add remembers one: with those nearby, or in a place of its own. Where none is left,
// the two that lie off least become one: they matter least.
func (o *outliers) add(level float64) {
	defer o.sort()
	for i := range o {
		if near := &o[i]; near.weight > 0 && math.Abs(level-near.value()) < outlierWidth {
			near.merge(level, 1)
			return
		}
	}
	last := &o[maxOutliers-1]
	if last.weight > 0 {
		o[maxOutliers-2].merge(last.value(), last.weight)
	}
	last.set(level)
	last.weight = 1
}

func (o *outliers) sort() {
	slices.SortFunc(o[:], func(a, b outlier) int {
		if a.weight == 0 || b.weight == 0 {
			return cmp.Compare(b.weight, a.weight)
		}
		return cmp.Compare(b.level, a.level)
	})
}

// merge takes others in.
func (o *outlier) merge(level float64, weight float32) {
	o.weight += weight
	o.set(o.value() + (level-o.value())*float64(weight/o.weight))
	o.weight = min(o.weight, mostOutliers)
}

// limit is the level from which on a value is news: at least from, and more where there
// have been outliers.
func (o *outliers) limit(from float64) float64 {
	weight := float32(0)
	for i := range o {
		if weight += o[i].weight; weight >= enoughOutliers {
			return max(from, o[i].value()+outlierMargin)
		}
	}
	return from
}

func (o *outlier) value() float64 { return float64(o.level) * outlierStep }

func (o *outlier) set(level float64) {
	o.level = int16(math.Round(min(max(level/outlierStep, math.MinInt16), math.MaxInt16)))
}
