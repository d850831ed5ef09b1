//go:build !race

package simulate_test

import (
	"flag"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/test/simulate"
)

var (
	seedText  = flag.String("simulate.seed", "", "the seed of a former run; empty: new ones")
	hoursText = flag.String("simulate.hours", "", "how many hours each seed is disturbed; empty: the seeds of the gate")
	seedsText = flag.String("simulate.seeds", "1", "how many new seeds")
	foundToo  = flag.Bool("simulate.found", false, "also the seeds that found a fault once")
	eachText  = flag.String("simulate.each", "0", "how often each kind has to come, over all seeds")
)

// ask is what the flags ask for; nil: nothing.
func ask(t *testing.T) *simulate.Asked {
	t.Helper()
	if *seedText == "" && *hoursText == "" {
		return nil
	}
	asked, err := simulate.Ask(*seedText, *hoursText, *seedsText, *eachText)
	if err != nil {
		t.Fatal(err) // a sentence for people, without a trace
	}
	return &asked
}
