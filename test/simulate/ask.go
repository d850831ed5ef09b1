package simulate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// Asked is what somebody wants to be simulated.
type Asked struct {
	Seeds []uint64
	// For is how long each seed is disturbed, Each how often each kind has to come.
	For  time.Duration
	Each int
}

// longest bounds a seed: its store grows with it.
const longest = 24.0

// Ask reads what make simulate was given. An error says what to do.
func Ask(seed, hours, seeds, each string) (a Asked, err error) {
	h, err := strconv.ParseFloat(hours, 64)
	if err != nil || !(h > 0 && h <= longest) {
		return a, fmt.Errorf("HOURS=%s is no time to simulate: give hours of virtual time, more than 0 and at most %.0f, as "+
			"in HOURS=0.6", hours, longest)
	}
	a.For = time.Duration(h * float64(time.Hour)).Truncate(time.Second)
	if a.Each, err = strconv.Atoi(each); err != nil || a.Each < 0 {
		return a, fmt.Errorf("EACH=%s is no count: say how often each kind of fault has to come, or leave it out", each)
	}
	if seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return a, fmt.Errorf("SEED=%s is no number: give the seed that a simulation has printed, or leave it out for a new "+
				"one", seed)
		}
		a.Seeds = []uint64{n}
		return a, nil
	}
	n, err := strconv.Atoi(seeds)
	if err != nil || n < 1 || n > 1000 {
		return a, fmt.Errorf("SEEDS=%s is no count: say how many new seeds there shall be, 1 to 1000", seeds)
	}
	for range n {
		a.Seeds = append(a.Seeds, rand.Uint64()>>16) //nolint:gosec // any seed will do; it is printed
	}
	return a, nil
}
