package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

func policy(maxRetries int, noRetryOn ...entity.Reason) entity.RetryPolicy {
	return entity.RetryPolicy{
		MaxRetries: maxRetries, Backoff: entity.BackoffFixed, IntervalMs: 1000, MaxIntervalMs: 60_000, NoRetryOn: noRetryOn,
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	failed := entity.Failed(entity.ReasonExitCode, "exit 1")
	timedOut := entity.Outcome{Status: entity.StatusTimeout}
	lost := entity.Failed(entity.ReasonNodeLost, "")
	stopped := entity.Failed(entity.ReasonShutdown, "")
	pointless := failed
	pointless.NoRetry = true
	asked := failed
	asked.RetryAfter = 3 * time.Minute
	askedLong := failed
	askedLong.RetryAfter = 1000 * time.Hour

	final := func(s entity.Status, retries, losses int) retry.Decision {
		return retry.Decision{Status: s, RetryCount: retries, NodeLosses: losses}
	}
	again := func(wait time.Duration, retries, losses int) retry.Decision {
		return retry.Decision{Retry: true, Wait: wait, Status: entity.StatusWaiting, RetryCount: retries, NodeLosses: losses}
	}
	elsewhere := func(retries, losses int) retry.Decision {
		d := again(0, retries, losses)
		d.NodeLoss = true
		return d
	}

	for _, c := range []struct {
		name string
		in   retry.Input
		want retry.Decision
	}{
		{"success", retry.Input{Policy: policy(3), Outcome: entity.Succeeded("")}, final(entity.StatusSuccess, 0, 0)},
		{
			"cancelled",
			retry.Input{Policy: policy(3), Outcome: entity.Outcome{Status: entity.StatusCancelled}},
			final(entity.StatusCancelled, 0, 0),
		},
		{
			"cancelled by a lost node",
			retry.Input{Policy: policy(3), Outcome: entity.Outcome{
				Status: entity.StatusCancelled,
				Reason: entity.ReasonNodeLost,
			}},
			final(entity.StatusCancelled, 0, 0),
		},
		{"no retries asked for", retry.Input{Policy: policy(0), Outcome: failed}, final(entity.StatusFailed, 0, 0)},
		{"timeout, none asked for", retry.Input{Policy: policy(0), Outcome: timedOut}, final(entity.StatusTimeout, 0, 0)},
		{"first retry", retry.Input{Policy: policy(2), Outcome: failed}, again(time.Second, 1, 0)},
		{"last retry", retry.Input{Policy: policy(2), Outcome: timedOut, RetryCount: 1}, again(time.Second, 2, 0)},
		{
			"used up by failures",
			retry.Input{Policy: policy(2), Outcome: failed, RetryCount: 2},
			final(entity.StatusDead, 2, 0),
		},
		{
			"used up by a timeout",
			retry.Input{Policy: policy(2), Outcome: timedOut, RetryCount: 2},
			final(entity.StatusDead, 2, 0),
		},
		{
			"fewer allowed than were made",
			retry.Input{Policy: policy(1), Outcome: failed, RetryCount: 5},
			final(entity.StatusDead, 5, 0),
		},
		{"handler forbids", retry.Input{Policy: policy(2), Outcome: pointless}, final(entity.StatusFailed, 0, 0)},
		{
			"handler forbids later",
			retry.Input{Policy: policy(2), Outcome: pointless, RetryCount: 2},
			final(entity.StatusFailed, 2, 0),
		},
		{"policy forbids the reason", retry.Input{
			Policy:  policy(2, entity.ReasonPanic, entity.ReasonExitCode),
			Outcome: failed,
		}, final(entity.StatusFailed, 0, 0)},
		{
			"policy forbids another reason",
			retry.Input{Policy: policy(2, entity.ReasonPanic), Outcome: failed},
			again(time.Second, 1, 0),
		},
		{
			"policy forbids timeouts",
			retry.Input{Policy: policy(2, entity.ReasonTimeout), Outcome: timedOut},
			final(entity.StatusTimeout, 0, 0),
		},
		{
			"policy forbids errors",
			retry.Input{Policy: policy(2, entity.ReasonError), Outcome: entity.Failed("", "x")},
			final(entity.StatusFailed, 0, 0),
		},
		{
			"errors are no timeouts",
			retry.Input{Policy: policy(2, entity.ReasonError), Outcome: timedOut},
			again(time.Second, 1, 0),
		},
		{"handler asks for a wait", retry.Input{Policy: policy(2), Outcome: asked}, again(3*time.Minute, 1, 0)},
		{"handler asks for weeks", retry.Input{Policy: policy(2), Outcome: askedLong}, again(24*time.Hour, 1, 0)},

		{"node lost", retry.Input{Policy: policy(0), Outcome: lost}, elsewhere(0, 1)},
		{"node lost with retries used up", retry.Input{Policy: policy(2), Outcome: lost, RetryCount: 2}, elsewhere(2, 1)},
		{"third node lost", retry.Input{Policy: policy(0), Outcome: lost, NodeLosses: 2}, elsewhere(0, 3)},
		{"fourth node lost", retry.Input{Policy: policy(0), Outcome: lost, NodeLosses: 3}, final(entity.StatusDead, 0, 3)},
		{
			"node lost, job gives up",
			retry.Input{Policy: policy(5), OnNodeLoss: entity.NodeLossFail, Outcome: lost},
			final(entity.StatusFailed, 0, 0),
		},
		{
			"node lost, policy forbids",
			retry.Input{Policy: policy(5, entity.ReasonNodeLost), Outcome: lost},
			final(entity.StatusFailed, 0, 0),
		},
		{"failure after losses", retry.Input{Policy: policy(1), Outcome: failed, NodeLosses: 3}, again(time.Second, 1, 3)},
		{"node stopped", retry.Input{Policy: policy(0), Outcome: stopped}, again(0, 0, 0)},
		{"node stopped after three losses", retry.Input{Policy: policy(0), Outcome: stopped, NodeLosses: 3}, again(0, 0, 3)},
		{
			"node stopped, job gives up",
			retry.Input{Policy: policy(5), OnNodeLoss: entity.NodeLossFail, Outcome: stopped},
			final(entity.StatusFailed, 0, 0),
		},

		{
			"not an end",
			retry.Input{Policy: policy(0), Outcome: entity.Outcome{Status: entity.StatusRunning}},
			final(entity.StatusFailed, 0, 0),
		},
		{
			"no known state",
			retry.Input{Policy: policy(0), Outcome: entity.Outcome{Status: "?"}},
			final(entity.StatusFailed, 0, 0),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, retry.Decide(c.in))
		})
	}
}

// A run ends whatever its attempts come to, after as many attempts as the
// policy and the losses allow, if its node is not stopped for ever.
func TestEveryRunEnds(t *testing.T) {
	t.Parallel()
	outcomes := []entity.Outcome{
		{Status: entity.StatusTimeout}, entity.Failed(entity.ReasonError, ""), entity.Failed(entity.ReasonNodeLost, ""),
	}
	rapid.Check(t, func(t *rapid.T) {
		in := retry.Input{Policy: policy(rapid.IntRange(0, 20).Draw(t, "retries"))}
		for attempts := 1; ; attempts++ {
			require.LessOrEqual(t, attempts, in.Policy.MaxRetries+retry.MaxNodeLosses+1)
			in.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
			d := retry.Decide(in)
			require.Equal(t, d.Retry, !d.Status.Final())
			require.True(t, entity.StatusRunning.CanBecome(d.Status))
			if !d.Retry {
				require.Equal(t, in.RetryCount, d.RetryCount)
				require.Equal(t, in.NodeLosses, d.NodeLosses)
				return
			}
			in.RetryCount, in.NodeLosses = d.RetryCount, d.NodeLosses
		}
	})
}
