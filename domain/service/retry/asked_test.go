package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

// A target may ask for a longer wait than the policy's, up to the longest wait of the policy, and for no shorter one.
func TestThePolicyBoundsWhatATargetAsksFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interval, most int64
		asked, want    time.Duration
		note           string
	}{
		"nothing": {6000, 60_000, 0, 6 * time.Second, ""},
		"less than the policy": {6000, 60_000, time.Second, 6 * time.Second, "the target asks for 1 s, the policy " +
			"waits 6 s"},
		"more than the policy": {6000, 60_000, 30 * time.Second, 30 * time.Second, "the target asks for 30 s, the " +
			"policy waits 30 s"},
		"more than the longest":  {4000, 60_000, time.Hour, time.Minute, "the target asks for 1 h, the policy waits 60 s"},
		"as much as the longest": {4000, 4000, time.Hour, 4 * time.Second, "the target asks for 1 h, the policy waits 4 s"},
		"without a longest wait": {4000, 0, 90 * time.Minute, 90 * time.Minute, "the target asks for 5400 s, the policy " +
			"waits 5400 s"},
		"a short longest wait": {10, 20, time.Hour, 20 * time.Millisecond, "the target asks for 1 h, the policy waits 20 ms"},
		"more than a day": {4000, 0, 99 * time.Hour, 24 * time.Hour, "the target asks for 99 h, the policy waits " +
			"24 h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := entity.Failed(entity.ReasonHTTPStatus, "503")
			failed.Asked = c.asked
			got := retry.Decide(retry.Input{
				Policy:  entity.RetryPolicy{MaxRetries: 1, IntervalMs: c.interval, MaxIntervalMs: c.most},
				Outcome: failed,
			})
			require.True(t, got.Retry)
			require.Equal(t, c.want, got.Wait)
			require.Equal(t, c.note, got.Note)
		})
	}
	asked := entity.Failed(entity.ReasonHTTPStatus, "503")
	asked.Asked = time.Hour
	require.Empty(t, retry.Decide(retry.Input{Outcome: asked}).Note, "without a retry there is no wait")
}
