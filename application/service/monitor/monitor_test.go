package monitor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

// pings is a store that answers or not; stalls a task of some age.
type pings struct{ err error }

func (p pings) Ping(context.Context) error { return p.err }

type tasks []periodic.Status

func (d tasks) Statuses() []periodic.Status { return d }

func TestANodeIsReadyWhileItsStoreAnswersAndItsTasksTick(t *testing.T) {
	healthy := tasks{{Name: "scan", Age: time.Second, Limit: 15 * time.Second}}
	c := clocktest.NewManual(noon(0))
	require.Empty(t, monitor.NewMonitorService(pings{}, healthy, c).Degraded(t.Context()))
	err := monitor.NotReady(monitor.NewMonitorService(pings{errors.New("secret dsn")}, append(healthy,
		periodic.Status{Name: "heartbeat", Age: 20 * time.Second, Limit: 15 * time.Second}), c).Degraded(t.Context()))
	require.ErrorContains(t, err, "the store does not answer")
	require.ErrorContains(t, err, "heartbeat has not ticked for 20s")
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "scan")
}

func TestTroublesAreDatedFromWhenTheyWereNoticed(t *testing.T) {
	c := clocktest.NewManual(noon(0))
	reason := ""
	part := monitor.Part{Name: "redis", Check: func() (string, bool) { return reason, false }}
	m := monitor.NewMonitorService(pings{}, tasks{{Name: "scan", Age: time.Minute, Limit: time.Second}}, c, part)
	reason = "away"
	require.NoError(t, m.Watch(t.Context()))
	c.Advance(10 * time.Second)
	reason = "still away"
	found := m.Degraded(t.Context())
	require.Equal(t, []monitor.Trouble{
		{Part: monitor.PartTask, Reason: "scan has not ticked for 1m0s", Since: noon(-50 * time.Second), Blocks: true},
		{Part: "redis", Reason: "still away", Since: noon(0)},
	}, found)
	require.NoError(t, monitor.NotReady(found[1:]), "what does not block is shown only")
	reason = ""
	require.NoError(t, m.Watch(t.Context()))
	reason = "away again"
	require.Equal(t, noon(10*time.Second), m.Degraded(t.Context())[1].Since)
}

// A node runs jobs while its alerts or its statistics are stuck: it says so, and gets requests on.
func TestAStuckTaskOfAlertingDegradesAlone(t *testing.T) {
	m := monitor.NewMonitorService(pings{}, tasks{
		{Name: "alerts", Age: time.Minute, Limit: time.Second},
		{Name: "fold", Age: time.Minute, Limit: time.Second},
		{Name: "retention", Age: time.Minute, Limit: time.Second},
	}, clocktest.NewManual(noon(0)))
	found := m.Degraded(t.Context())
	require.Len(t, found, 3)
	require.NoError(t, monitor.NotReady(found))
	require.Equal(t, "alerts has not ticked for 1m0s", found[0].Reason)
	for _, name := range []string{"heartbeat", "scan", "reconcile", "dispatch", "clock"} {
		stuck := monitor.NewMonitorService(pings{}, tasks{{Name: name, Age: time.Minute, Limit: time.Second}},
			clocktest.NewManual(noon(0)))
		require.ErrorContains(t, monitor.NotReady(stuck.Degraded(t.Context())), name+" has not ticked")
	}
}

// hanging is a store that does not answer as long as it is waited for.
type hanging struct{}

func (hanging) Ping(ctx context.Context) error {
	_, bounded := ctx.Deadline()
	if !bounded {
		return nil
	}
	return apperror.Unavailable(context.DeadlineExceeded)
}

func TestAProbeDoesNotWaitForTheStoreForLong(t *testing.T) {
	found := monitor.NewMonitorService(hanging{}, tasks{}, clocktest.NewManual(noon(0))).Degraded(context.Background())
	require.ErrorContains(t, monitor.NotReady(found), "the store does not answer")
}
