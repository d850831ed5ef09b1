//go:build !race

package api_test

// Nothing changes without the race detector.
const (
	raceFactor    = 1
	raceShare     = 1
	documentShare = 1
)
