package measure

import "slices"

// Spread is what turns of one measurement came to.
type Spread struct {
	Median float64 `json:"median"`
	// Low and High hold the true median with 95 %, whatever the distribution: the order statistics that a fair coin names.
	// Fewer than six turns cannot say it; then they are the least and the greatest.
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Turns int     `json:"turns"`
}

// SpreadOf is that of the values of turns; zero without any.
func SpreadOf(values []float64) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	// below is the chance that no more than rank values of n lie under the true median.
	rank, term, below := 0, 1.0, 1.0
	for range n {
		term, below = term/2, below/2
	}
	for rank < n/2 && below <= 0.025 {
		rank++
		term *= float64(n-rank+1) / float64(rank)
		below += term
	}
	at := max(rank-1, 0)
	return Spread{
		Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[at], High: sorted[n-1-at], Turns: n,
	}
}
