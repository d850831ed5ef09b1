package alerting_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// steps is the size of each pattern of the fake language, and eventTime what 20 of them take for an event on a free
	// machine: 10 ns a step.
	steps     = 93
	eventTime = 20 * steps * alerting.MaxMatched * 10 * time.Nanosecond
	// sliceTime is what the patterns of one slice take at most.
	sliceTime = 50 * time.Millisecond
)

// pattern is an expression of one pattern, which nothing matches. While it is evaluated, time passes.
type pattern struct{ passed func(d time.Duration) }

func (p pattern) Compile(string) (alerting.Condition, []alerting.ExpressionProblem) { return p, nil }
func (p pattern) Steps() int                                                        { return steps }
func (p pattern) MayHold(string) bool                                               { return true }
func (p pattern) Uses(string) bool                                                  { return false }
func (p pattern) Holds(*alerting.Facts) (holds bool, cost int64, err error) {
	p.passed(eventTime / 20)
	return false, steps * alerting.MaxMatched, nil
}

// flood has a group whose patterns take 9.5 ms for an event, on a machine that is so many times slower, and so many of
// its events. The function runs once, when some of them are evaluated.
func (d *desk) flood(events int, slower time.Duration, meanwhile func()) {
	d.T.Helper()
	d.Rule(alert.JobFailed, nil)
	for i := range 20 {
		d.Rule(alert.Expression, func(r *alert.Rule) {
			r.Head = alertingtest.Head(fmt.Sprint("dear ", i))
			r.Group, r.Expression = "loud", `message matches "x"`
		})
	}
	job := d.Add(d.T, enginetest.Job("flood", inGroup("loud")))
	for range events {
		d.End(job, entity.StatusFailed)
	}
	evaluated := 0
	d.Language = pattern{func(passed time.Duration) {
		d.Clock.Advance(slower * passed)
		if evaluated++; evaluated == 205 { // the eleventh event
			meanwhile()
		}
	}}
}

func inGroup(group string) func(j *entity.Job) { return func(j *entity.Job) { j.Group = group } }

// A failure of a quiet group in the midst of a flood of dear events raises its alert after the slice that is under way,
// and the leader plans alerts at once. Where patterns see its own job, too, that is one slice later. On a slow machine
// a slice is one event.
func TestAQuietGroupWaitsForOneSliceOfADearFlood(t *testing.T) {
	for _, c := range []struct {
		name   string
		dear   bool
		slower time.Duration
		within time.Duration
	}{
		{"no pattern sees it", false, 1, sliceTime},
		{"a pattern sees it", true, 1, 2 * sliceTime},
		{"the machine is slow", false, 10, 10 * eventTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			quiet := d.Add(t, enginetest.Job("quiet", inGroup("quiet")))
			var failed time.Duration
			d.flood(400, c.slower, func() {
				failed = d.Clock.Monotonic()
				d.End(quiet, entity.StatusFailed)
			})
			if c.dear {
				d.Rule(alert.Expression, func(r *alert.Rule) {
					r.Group, r.Expression = "quiet", `message matches "x"`
				})
			}
			leader := d.Leader(d.Faults)
			for !slices.Contains(d.jobsOfAlerts(), quiet.ID) {
				_, more, err := leader.RunOnce(t.Context())
				require.NoError(t, err)
				require.True(t, more, "the flood lasts")
			}
			require.NotZero(t, failed)
			require.LessOrEqual(t, d.Clock.Monotonic()-failed, c.within)
		})
	}
}

// Cheap events that come all the time do not keep dear ones away: each second turn takes some of both. The events of a
// job are taken in order.
func TestDearEventsGoOnBesideCheapOnes(t *testing.T) {
	d := newDesk(t)
	d.flood(30, 1, func() {})
	flood := d.Events(t)
	cheap := d.Add(t, enginetest.Job("cheap", inGroup("quiet")))
	leader := d.Leader(d.Faults)
	for turn := range 12 {
		d.End(cheap, entity.StatusFailed)
		taken, _, err := leader.RunOnce(t.Context())
		require.NoError(t, err)
		slice := 5 * (turn % 2)
		require.Equal(t, 1+slice, taken)
		flood = flood[slice:]
		require.Equal(t, flood, append([]entity.Event{}, d.Events(t)...))
	}
	require.Empty(t, flood)
}

// A slice of events whose patterns are small is as large as a transaction.
func TestSmallPatternsAreFewTransactions(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Expression, says(`message matches "oom|killed"`))
	job := d.Add(t, enginetest.Job("settle", nil))
	for range 600 {
		d.End(job, entity.StatusFailed)
	}
	transactions := 0
	d.Faults.Before(func(name string) {
		if name == "alert-events" {
			transactions++
		}
	})
	d.evaluateAll()
	require.Equal(t, 3, transactions)
}
