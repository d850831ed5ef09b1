package validation

import (
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxData is how many bytes the data of a job may have: those of a workflow hold its steps.
func maxData(t entity.JobType) int {
	if t == entity.JobWorkflow {
		return bounds.WorkflowBytes
	}
	return MaxDataBytes
}

// ofSteps refuses what a workflow leaves to its steps. Values at their defaults are taken: an answer may be sent back.
func (c *checker) ofSteps(j *entity.Job) {
	standard := NewJob("")
	for _, field := range []struct {
		name   string
		given  bool
		remedy string
	}{
		{"jobClass", j.Class != "", "a workflow has no handler of its own; put it into custom.jobClass of a step"},
		{
			"shardCount", j.ShardCount > 1,
			"a workflow has no shards; give a step forEach, or let it start a job with shards",
		},
		{"broadcast", j.Broadcast, "a workflow runs on no node itself; let a step start a job with broadcast"},
		{
			"routing", j.Routing.Strategy != standard.Routing.Strategy || len(j.Routing.Labels) > 0 || j.Routing.Workers != "",
			"a workflow runs on no node itself; let a step start a job with routing",
		},
		{"onNodeLoss", j.OnNodeLoss != standard.OnNodeLoss, "a workflow run outlives its nodes; leave it out"},
		{"retryPolicy", j.Retry.MaxRetries > 0, "put it on the steps that may be repeated"},
	} {
		if field.given {
			c.add(field.name, CodeConflict, "%s", field.remedy)
		}
	}
}
