package alerting_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// part is a shard of a fire.
func part(id, fire string, of int, status entity.Status, sec int) *entity.Execution {
	return &entity.Execution{ID: id, FireKey: fire, ShardTotal: of, Status: status, UpdateTime: at(sec), EndTime: at(sec)}
}

// runsOf folds executions into runs, and knows of no horizon.
func runsOf(execs []*entity.Execution) []alerting.Run {
	fires := alerting.NewFires(time.Time{})
	for _, e := range execs {
		fires.Add(e)
	}
	return fires.Runs()
}

// The result of a fire at its first failed shard does not depend on later ends of shards, or on the time of the
// question.
func TestAFireHasFailedWithItsFirstFailedShard(t *testing.T) {
	early := []*entity.Execution{
		part("a", "f", 3, entity.StatusRunning, 0), part("b", "f", 3, fail, 5), part("c", "f", 3, entity.StatusWaiting, 0),
	}
	require.Equal(t, []alerting.Run{{ExecutionID: "b", Status: fail, At: at(5)}}, runsOf(early))
	late := []*entity.Execution{
		part("a", "f", 3, ok, 40), part("b", "f", 3, fail, 5), part("c", "f", 3, dead, 30),
	}
	for range 20 {
		rand.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
		require.Equal(t, []alerting.Run{{ExecutionID: "b", Status: dead, At: at(5)}}, runsOf(late))
	}
}

// It has succeeded with its last one.
func TestAFireHasSucceededWithItsLastShard(t *testing.T) {
	require.Empty(t, runsOf([]*entity.Execution{
		part("a", "f", 2, ok, 1), part("b", "f", 2, entity.StatusRunning, 0),
	}))
	require.Equal(t, []alerting.Run{{ExecutionID: "b", Status: ok, At: at(9)}}, runsOf([]*entity.Execution{
		part("a", "f", 2, ok, 1), part("b", "f", 2, ok, 9),
	}))
}

// After the store's clock was set back, the rows of before lie ahead: they are not the newest.
func TestRowsOfTheFutureAreNoRuns(t *testing.T) {
	fires := alerting.NewFires(at(10))
	unreadable := part("x", "x", 1, fail, 2)
	unreadable.Unreadable = "shard_id"
	for _, e := range []*entity.Execution{part("a", "a", 1, fail, 3600), part("b", "b", 1, ok, 9), unreadable} {
		fires.Add(e)
	}
	require.Equal(t, []alerting.Run{{ExecutionID: "b", Status: ok, At: at(9)}}, fires.Runs())
}

// A rate that does not see its whole window says so.
func TestARateOfFewerRunsSaysHowMany(t *testing.T) {
	r := rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.5, 60 })
	past := alerting.Past{Runs: runs(fail, fail, ok, fail, fail), Cut: true}
	s, found := alerting.OnEnd(r, pay, end(fail, ""), past)
	require.True(t, found)
	require.Equal(t, "4 of the newest 5 runs of the job settle failed within 1m0s.", s.Content)
	past.Runs[4].At = at(-int(2 * time.Minute / time.Second))
	r.Threshold = 0.1
	s, _ = alerting.OnEnd(r, pay, end(fail, ""), past)
	require.NotContains(t, s.Content, "newest", "the window was seen as a whole")
}
