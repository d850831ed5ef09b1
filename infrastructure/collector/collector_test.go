package collector

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheHeapGrowsByHowOftenItIsCollected(t *testing.T) {
	for _, c := range []struct {
		name  string
		since time.Duration
		from  int
		want  int
	}{
		{"at once", 0, most, most},
		{"often", 300 * time.Millisecond, most, most},
		{"seldom", 10 * time.Second, most, least},
		{"after a quiet time", time.Hour, most, least},
		{"a burst", 100 * time.Millisecond, least, most},
		{"just right", gap, 100, 100},
		{"a little too often", gap / 2, 80, 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Minute
			got := pace{c.from, began}.next(began + c.since)
			require.Equal(t, pace{c.want, began + c.since}, got)
		})
	}
}

func TestEachCollectionIsNoticed(t *testing.T) {
	before := debug.SetGCPercent(most)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	asked := make(chan struct{}, 100)
	now := time.Duration(0)
	Follow(func() time.Duration {
		asked <- struct{}{}
		now += time.Hour
		return now
	})
	<-asked
	for range 3 { // the mark of each turn is a new one for the collector
		runtime.GC()
		<-asked
	}
	runtime.GC() // what was asked above was set before this one is noticed
	<-asked
	require.Equal(t, least, debug.SetGCPercent(least))
}
