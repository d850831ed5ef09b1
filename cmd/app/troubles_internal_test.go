package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
)

// What somebody asked for, and what has a rule of its own, is no trouble of a part.
func TestWhatIsAlarming(t *testing.T) {
	var known []monitor.Trouble
	for _, part := range []string{"drain", "clock", "node", "unplaced", "versions", "redis", "retention"} {
		known = append(known, monitor.Trouble{Part: part, Reason: "why " + part})
	}
	require.Equal(t, map[string]string{"redis": "why redis", "retention": "why retention"}, alarming(known))
}

// A part that stood twice would be looked at and shown twice.
func TestEachPartIsNamedOnce(t *testing.T) {
	e := &Engine{notifying: &notifying{}}
	named := map[string]bool{}
	for _, p := range e.parts() {
		require.False(t, named[p.Name], p.Name)
		named[p.Name] = true
	}
	require.Greater(t, len(named), 15)
}
