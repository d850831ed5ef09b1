package event_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Rule 24: the id of an event is computed, so that a consumer that sees it
// twice can tell. Form and payload are what consumers rely on.
func TestTheEventOfAnEnd(t *testing.T) {
	e := &entity.Execution{
		ID: "e-1", JobID: "j-1", FireKey: "2026-11-20T12:00:00.000Z", ScheduledTime: noon.In(time.FixedZone("", 3600)),
		Trigger: entity.TriggerSchedule, ShardIndex: 1, ShardTotal: 3, Status: entity.StatusDead,
		Reason:  entity.ReasonTimeout,
		Attempt: 4, ErrorMessage: "too <slow>",
	}
	got := event.Final(e, nil, noon.Add(time.Second))
	require.Equal(t, entity.Event{
		ID: "e-1:4:DEAD", Topic: entity.TopicExecutions, Key: "j-1", Type: event.TypeExecutionFinal,
		CreateTime: noon.Add(time.Second),
		Payload:    got.Payload,
	}, got)
	require.JSONEq(t, `{"executionId":"e-1","jobId":"j-1","fireKey":"2026-11-20T12:00:00.000Z","scheduledTime":"2026-11-20T12:00:00Z",
		"trigger":"SCHEDULE","shardIndex":1,"shardTotal":3,"status":"DEAD","reason":"TIMEOUT","attempt":4,"errorMessage":"too <slow>"}`, got.Payload)
}

// An event says which job's run ended, where, and how long it took. So consumers need no call for each event.
func TestTheEventOfAnEndNamesItsJob(t *testing.T) {
	e := &entity.Execution{
		ID: "e-1", JobID: "j-1", Status: entity.StatusFailed, ScheduledTime: noon, NodeID: "node-2",
		StartTime: noon.Add(time.Second), EndTime: noon.Add(3 * time.Second), Duration: 2 * time.Second,
	}
	job := &entity.Job{ID: "j-1", Name: "settle orders", Group: "billing", Owner: "ann@example.com"}
	rows := event.Outbox{
		Readers: entity.EventReaders{Kafka: true}, Jobs: func(string) *entity.Job { return job },
	}.Ended([]*entity.Execution{e}, noon)
	require.JSONEq(t, `{"executionId":"e-1","jobId":"j-1","jobName":"settle orders","group":"billing","owner":"ann@example.com",
		"fireKey":"","scheduledTime":"2026-11-20T12:00:00Z","trigger":"","shardIndex":0,"shardTotal":0,"status":"FAILED",
		"attempt":0,"nodeId":"node-2","startTime":"2026-11-20T12:00:01Z","durationMs":2000}`, rows.Events[0].Payload)
}

func TestARangeTellsHowManyFiresItStandsFor(t *testing.T) {
	e := &entity.Execution{
		ID: "e-1", Status: entity.StatusSkipped, Reason: entity.ReasonMisfire, SkipCount: 7,
		ScheduledTime: noon,
	}
	got := event.Final(e, nil, noon)
	require.Equal(t, "e-1:0:SKIPPED", got.ID)
	require.Contains(t, got.Payload, `"skipCount":7`)
	require.NotContains(t, got.Payload, "errorMessage")
}

// Data never brings the engine down: a time that JSON cannot hold leaves the
// event without it.
func TestAnEventOfAnImpossibleTimeStillNamesItsExecution(t *testing.T) {
	e := &entity.Execution{ID: "e-1", Status: entity.StatusFailed, ScheduledTime: noon.AddDate(20000, 0, 0)}
	require.JSONEq(t, `{"executionId":"e-1"}`, event.Final(e, nil, noon).Payload)
}
