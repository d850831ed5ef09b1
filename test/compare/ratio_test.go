package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSummaryNamesMedianAndInterval(t *testing.T) {
	f := figure{"figure", func(r result) float64 { return r.CPU }}
	for _, c := range []struct {
		name   string
		ratios []float64
		want   string
	}{
		{"no spread", []float64{1.5, 1.5, 1.5}, "figure: new/old 1.500, 95 % within 1.500 and 1.500"},
		{
			"an outlier does not move the median",
			[]float64{1, 1, 1, 1, 1, 1, 1, 1, 9},
			"figure: new/old 1.000, 95 % within 1.000 and 1.000",
		},
		{"an even number of turns", []float64{1, 3}, "figure: new/old 2.000, 95 % within 1.000 and 3.000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pairs []pair
			for _, r := range c.ratios {
				pairs = append(pairs, pair{old: result{CPU: 2}, new: result{CPU: 2 * r}})
			}
			require.Equal(t, c.want, summary(f, pairs, rand.New(rand.NewPCG(1, 2))))
		})
	}
}
