//go:build !race

package simulate_test

import (
	"testing"
	"time"
)

// found are seeds that found a fault, with how long they take to come to it. They stay for ever.
var found = []struct {
	seed uint64
	// lasts is the least time in which the seed found it.
	lasts time.Duration
	// fault is what it was.
	fault string
}{
	{10930761998076, time.Hour, "a resume that the node could not see is forgotten when it comes back"},
}

// TestSeedsThatFoundAFault runs them again, where make simulate asks for it.
func TestSeedsThatFoundAFault(t *testing.T) {
	if !*foundToo {
		t.Log("NOT RUN here: the seeds that found a fault, see make prove simulate")
		return
	}
	for _, f := range found {
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			one(t, f.seed, f.lasts)
		})
	}
}
