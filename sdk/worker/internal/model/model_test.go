package model_test

import (
	"strings"
	"testing"
	"time"
)

func TestX(t *testing.T) {
	for d := 8; d <= 20; d++ {
		c := config{depth: d, faults: 3, slots: 1, ticks: 5, sample: 64}
		at := time.Now()
		f := c.run()
		t.Log(d, f.states, f.fairs, time.Since(at))
		if f.err != nil {
			t.Fatal(f.err, "\n", strings.Join(f.trace, "\n"))
		}
		if time.Since(at) > 10*time.Second {
			break
		}
	}
}
