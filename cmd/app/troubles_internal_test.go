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
	p := &parts{}
	named := map[string]bool{}
	for _, c := range p.checks() {
		require.False(t, named[c.Name], c.Name)
		named[c.Name] = true
	}
	require.Greater(t, len(named), 15)
}
