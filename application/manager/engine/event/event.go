// Package event makes the outbox rows that accompany changes of state (engine
// rule 24, see docs/rules.md).
package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// TypeExecutionFinal is the type of an execution's last event.
const TypeExecutionFinal = "execution.final"

// ExecutionData is the data of an execution's event, in the names of the API.
type ExecutionData struct {
	ExecutionID   string         `json:"executionId"`
	JobID         string         `json:"jobId"`
	FireKey       string         `json:"fireKey"`
	ScheduledTime time.Time      `json:"scheduledTime"`
	Trigger       entity.Trigger `json:"trigger"`
	ShardIndex    int            `json:"shardIndex"`
	ShardTotal    int            `json:"shardTotal"`
	Status        entity.Status  `json:"status"`
	Reason        entity.Reason  `json:"reason,omitempty"`
	Attempt       int            `json:"attempt"`
	ErrorMessage  string         `json:"errorMessage,omitempty"`
	SkipCount     int            `json:"skipCount,omitempty"`
}

// Final is the event of an execution that has reached its final state. Its id
// is computed from execution, attempt and status, so that a consumer which
// sees it twice can tell (engine rule 24).
func Final(e *entity.Execution, now time.Time) entity.Event {
	data := ExecutionData{
		ExecutionID: e.ID, JobID: e.JobID, FireKey: e.FireKey, ScheduledTime: e.ScheduledTime.UTC(),
		Trigger: e.Trigger, ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal, Status: e.Status,
		Reason: e.Reason, Attempt: e.Attempt, ErrorMessage: e.ErrorMessage, SkipCount: e.SkipCount,
	}
	payload, err := json.Marshal(data)
	if err != nil {
		// Every field is a string, a number or a time of this era: only a
		// time outside years 0–9999 can fail, and validation refuses those.
		payload = []byte(fmt.Sprintf(`{"executionId":%q}`, e.ID))
	}
	return entity.Event{
		ID:         fmt.Sprintf("%s:%d:%s", e.ID, e.Attempt, e.Status),
		Topic:      entity.TopicExecutions,
		Key:        e.JobID,
		Type:       TypeExecutionFinal,
		Payload:    string(payload),
		CreateTime: now,
	}
}
