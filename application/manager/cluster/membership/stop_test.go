package membership_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
)

// stopLog notes what a node writes of its stop, and how often its runs had been stopped by then.
type stopLog struct {
	of    *peer
	epoch int64
	halts int
}

func (l *stopLog) Write(p []byte) (int, error) {
	var line struct {
		Msg   string
		Epoch int64
	}
	if err := json.Unmarshal(p, &line); err != nil {
		return 0, err
	}
	if line.Msg == "this node stops its work" {
		l.epoch, l.halts = line.Epoch, l.of.halts
	}
	return len(p), nil
}

// A log may be stuck, as a pipe is that nobody reads. The runs must not wait for it: others take them over.
func TestRunsAreStoppedBeforeTheLogSaysSo(t *testing.T) {
	c := newCluster(t)
	log := &stopLog{}
	log.of = c.join("a", func(d *membership.Deps) { d.Logger = slog.New(slog.NewJSONHandler(log, nil)) })
	c.join("b", nil)
	c.pass(10)
	require.Zero(t, log.of.halts)
	log.of.away, log.of.deaf = true, true
	c.passFinely(terms.Lease, 100*time.Millisecond)
	require.Positive(t, log.halts)
	require.EqualValues(t, 1, log.epoch, "the line names the epoch that has ended")
}
