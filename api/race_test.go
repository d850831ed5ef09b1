//go:build race

package api_test

// raceFactor is how much dearer the race detector makes what is measured,
// raceShare by how much the bodies are shorter for it, documentShare the documents.
const (
	raceFactor    = 25
	raceShare     = 16
	documentShare = 64
)
