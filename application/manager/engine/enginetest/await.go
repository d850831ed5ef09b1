package enginetest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// looks bounds how often a bubble is looked at: what has not happened by then never will.
	looks = 2000
	// longest bounds the waiting elsewhere: far more than the slowest machine needs, and far less than the time-out of a
	// package, which would end all of its tests and name none.
	longest = 2 * time.Minute
	// step is how far the clock goes between two looks.
	step = 100 * time.Millisecond
)

// Await waits until something has happened. In a bubble it looks whenever all
// goroutines are at rest, a millisecond of virtual time apart. Elsewhere it gives up
// after two minutes.
func Await(t testing.TB, happened func() bool, what string, args ...any) {
	t.Helper()
	await(t, func() {}, happened, what, args...)
}

// Pass is Await while the node's clock goes on in small steps, as intervals and
// waits for the store need it.
func (n *Node) Pass(t testing.TB, happened func() bool, what string, args ...any) {
	t.Helper()
	await(t, func() { n.Clock.Advance(step) }, happened, what, args...)
}

func await(t testing.TB, between func(), happened func() bool, what string, args ...any) {
	t.Helper()
	began := time.Now()
	for look := 0; ; look++ {
		bubble := settle()
		if happened() {
			return
		}
		if bubble && look == looks || !bubble && time.Since(began) > longest {
			require.FailNowf(t, "it does not happen", what, args...)
		}
		time.Sleep(time.Millisecond)
		between()
	}
}

// settle lets the other goroutines of the test's bubble come to rest; it reports
// whether there is a bubble.
func settle() (bubble bool) {
	defer func() { bubble = recover() == nil }()
	synctest.Wait()
	return true
}
