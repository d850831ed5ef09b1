//go:build race

package model_test

// shallower is how many steps fewer a search has where the race detector slows it down tenfold. The model has one
// goroutine, so the detector finds nothing in it.
const shallower = 2
