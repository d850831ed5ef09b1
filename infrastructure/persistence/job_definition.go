package persistence

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// definition is how a version of a job is kept: the user's part of it.
type definition struct {
	Name             string               `json:"name"`
	Description      string               `json:"description,omitempty"`
	Group            string               `json:"group"`
	Labels           map[string]string    `json:"labels,omitempty"`
	Owner            string               `json:"owner,omitempty"`
	Type             string               `json:"jobType"`
	Class            string               `json:"jobClass,omitempty"`
	Data             string               `json:"jobData,omitempty"`
	Schedule         schedule.Spec        `json:"schedule"`
	Misfire          entity.Misfire       `json:"misfire"`
	Priority         int                  `json:"priority"`
	TimeoutSec       int                  `json:"timeoutSec,omitempty"`
	StartDeadlineSec int                  `json:"startDeadlineSec,omitempty"`
	Retry            retryJSON            `json:"retryPolicy"`
	Overlap          entity.OverlapPolicy `json:"overlapPolicy"`
	MaxConcurrency   int                  `json:"maxConcurrency,omitempty"`
	MaxQueued        int                  `json:"maxQueued,omitempty"`
	ShardCount       int                  `json:"shardCount,omitempty"`
	Broadcast        bool                 `json:"broadcast,omitempty"`
	Routing          routingJSON          `json:"routing"`
	OnNodeLoss       entity.OnNodeLoss    `json:"onNodeLoss"`
	Status           entity.JobStatus     `json:"status"`
}

func definitionJSON(j *entity.Job) (string, error) {
	b, err := json.Marshal(definition{
		Name: j.Name, Description: j.Description, Group: j.Group, Labels: j.Labels, Owner: j.Owner,
		Type: storedType(j.Type), Class: j.Class, Data: j.Data, Schedule: j.Schedule, Misfire: j.Misfire,
		Priority: j.Priority, TimeoutSec: j.TimeoutSec, StartDeadlineSec: j.StartDeadlineSec,
		Retry: retryJSON(j.Retry), Overlap: j.Overlap, MaxConcurrency: j.MaxConcurrency, MaxQueued: j.MaxQueued,
		ShardCount: j.ShardCount, Broadcast: j.Broadcast, Routing: routingJSON(j.Routing), OnNodeLoss: j.OnNodeLoss,
		Status: j.Status,
	})
	return string(b), err
}
