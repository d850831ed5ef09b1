package baseline

import "math/bits"

const (
	// window is how many of the last runs are looked at one by one. Older ones make
	// the usual rate.
	window = 32
	// minFailures is how many failures there must be at least.
	minFailures = 3
	// byChance is how improbable it must be at the usual rate that so many of so many
	// runs fail.
	byChance = 1e-5
)

// failures learns how often runs fail.
type failures struct {
	// last has a bit for each of the last runs, the newest lowest; 1 is a failure.
	last uint32
	seen uint8
	// rate is the share of failures before those, and weight how many runs it rests on.
	rate, weight float32
}

func (f *failures) learn(failed bool) {
	if f.seen == window {
		f.weight = min(f.weight+1, fullWeight)
		f.rate += (float32(f.last>>(window-1)) - f.rate) / f.weight
	} else {
		f.seen++
	}
	f.last <<= 1
	if failed {
		f.last |= 1
	}
}

// evaluate looks whether more runs have failed than usual, with the newest one, which has
// failed and is not learned yet. It compares the last 4, 8, 16 and 32 with those before.
func (f *failures) evaluate() (found Finding, more bool) {
	last := uint64(f.last)<<1 | 1
	for n := 4; n <= window && n <= int(f.seen)+1; n *= 2 {
		before := float64(int(f.seen)+1-n) + float64(f.weight)
		if before < MinRuns {
			break
		}
		failedBefore := float64(bits.OnesCount64(last>>n)) + float64(f.rate*f.weight)
		k := bits.OnesCount64(last & (1<<n - 1))
		rate := (failedBefore + 1) / (before + 2)
		if k < minFailures || !goesOn(last, n, k) || atLeast(k, n, rate) >= byChance {
			continue
		}
		return Finding{Code: FailingMore, Params: Params{
			Failed: k, Window: n, UsualRate: failedBefore / before, Runs: int(before),
		}}, true
	}
	return found, false
}

// goesOn tells whether of the newest half and quarter of the last n runs, of which k
// failed, as many failed as of all. A former outage alone is no news.
func goesOn(last uint64, n, k int) bool {
	half, quarter := bits.OnesCount64(last&(1<<(n/2)-1)), bits.OnesCount64(last&(1<<(n/4)-1))
	return 2*half >= k && 4*quarter >= k
}

// atLeast is the probability that k or more of n runs fail at a rate between 0 and 1.
func atLeast(k, n int, rate float64) float64 {
	p, term := 0.0, 1.0
	for range n {
		term *= 1 - rate
	}
	for i := 0; i <= n; i++ {
		if i >= k {
			p += term
		}
		term *= float64(n-i) / float64(i+1) * rate / (1 - rate)
	}
	return p
}
