package model_test

import (
	"strings"
	"testing"
	"time"
)

func TestX(t *testing.T) {
	for faults := 0; faults <= 3; faults++ {
		for d := 4; d <= 30; d++ {
			c := config{depth: d, faults: faults, slots: 1, sample: 64}
			at := time.Now()
			f := c.run()
			t.Log(faults, d, f.states, f.fairs, time.Since(at))
			if f.err != nil {
				t.Fatal(f.err, "\n", strings.Join(f.trace, "\n"))
			}
			if time.Since(at) > 3*time.Second {
				break
			}
		}
	}
}
