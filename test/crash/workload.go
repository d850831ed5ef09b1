package crash

import (
	"context"
	"fmt"
	"time"
)

// definition is a job of the workload and what the checker must know of it.
type definition struct {
	job  Job
	body map[string]any
}

func everySecond(misfire map[string]any) map[string]any {
	s := map[string]any{"kind": "CRON", "cronExpression": "* * * * * ?"}
	for k, v := range misfire {
		s[k] = v
	}
	return s
}

// workload has a job of every schedule kind and overlap policy, with shards,
// retries, misfire policies and both answers to the loss of a node.
func workload(target string, now time.Time) []definition {
	grid := time.Second
	retry := func(n int) map[string]any { return map[string]any{"maxRetries": n, "intervalMs": 100} }
	call := func(query string) map[string]any {
		return map[string]any{"method": "GET", "url": target + "/?" + query}
	}
	list := []definition{
		{Job{Name: "cron, parallel", Step: grid, Called: true}, map[string]any{"jobData": call("ms=20"), "schedule": everySecond(nil)}},
		{Job{Name: "cron, at most two", Step: grid, Called: true}, map[string]any{"jobData": call("ms=900"), "schedule": everySecond(nil), "maxConcurrency": 2}},
		{Job{Name: "serial", Step: grid, OneAtATime: true, Called: true}, map[string]any{"jobData": call("ms=300"), "schedule": everySecond(nil), "overlapPolicy": "SERIAL"}},
		{Job{Name: "discard", Step: grid, OneAtATime: true, Called: true}, map[string]any{"jobData": call("ms=1300"), "schedule": everySecond(nil), "overlapPolicy": "DISCARD"}},
		{Job{Name: "replace", Step: grid, OneAtATime: true, Called: true}, map[string]any{"jobData": call("ms=1300"), "schedule": everySecond(nil), "overlapPolicy": "REPLACE"}},
		{Job{Name: "three shards", Step: grid, Shards: 3, Called: true}, map[string]any{"jobData": call("ms=100"), "schedule": everySecond(nil), "shardCount": 3}},
		{Job{Name: "fixed rate", Step: 500 * time.Millisecond}, map[string]any{"schedule": map[string]any{"kind": "FIXED_RATE", "intervalMs": 500}}},
		{Job{Name: "fixed delay", OneAtATime: true, Delay: 300 * time.Millisecond, Called: true}, map[string]any{"jobData": call("ms=100"), "schedule": map[string]any{"kind": "FIXED_DELAY", "intervalMs": 300}}},
		{Job{Name: "fails once", Step: grid, MaxRetries: 2, Called: true}, map[string]any{"jobData": call("ms=5&fail=1"), "schedule": everySecond(nil), "retryPolicy": retry(2)}},
		{Job{Name: "always fails", Step: grid, MaxRetries: 1}, map[string]any{"jobData": call("ms=5&fail=99"), "schedule": everySecond(nil), "retryPolicy": retry(1)}},
		{Job{Name: "not after a loss", Step: grid, Called: true}, map[string]any{"jobData": call("ms=400"), "schedule": everySecond(nil), "onNodeLoss": "FAIL"}},
		{Job{Name: "misfire once", Step: grid}, map[string]any{"schedule": everySecond(map[string]any{"misfireThresholdSec": 1})}},
		{Job{Name: "misfire skip", Step: grid}, map[string]any{"schedule": everySecond(map[string]any{"misfireThresholdSec": 1, "misfirePolicy": "SKIP"})}},
		{Job{Name: "misfire all", Step: grid}, map[string]any{"schedule": everySecond(map[string]any{"misfireThresholdSec": 1, "misfirePolicy": "FIRE_ALL", "misfireMaxFires": 3})}},
		{Job{Name: handJob}, map[string]any{"schedule": map[string]any{"kind": "NONE"}}},
	}
	for i := range 10 {
		at := now.Add(time.Duration(2+3*i) * time.Second).Truncate(time.Millisecond)
		list = append(list, definition{
			Job{Name: fmt.Sprintf("once %d", i), Once: true, Origin: at},
			map[string]any{"schedule": map[string]any{"kind": "ONCE", "at": at.UTC().Format("2006-01-02T15:04:05.000Z")}},
		})
	}
	return list
}

// handJob is the job that the driver triggers.
const handJob = "by hand"

// createAll adds the workload and returns it as the checker knows it.
func createAll(ctx context.Context, c *Client, target string) ([]Job, error) {
	list := workload(target, time.Now())
	jobs := make([]Job, 0, len(list))
	for _, d := range list {
		d.body["name"], d.body["jobType"] = d.job.Name, "HTTP"
		if d.body["jobData"] == nil {
			d.body["jobType"], d.body["jobClass"] = "CUSTOM", "noop"
		}
		view, err := c.Create(ctx, d.body)
		if err != nil {
			return nil, fmt.Errorf("create the job %q: %w", d.job.Name, err)
		}
		j := d.job
		j.ID, j.Shards = view.ID, max(j.Shards, 1)
		if j.Step > 0 {
			// A fixed rate counts from the creation, a cron from full seconds.
			j.Origin = view.CreateTime
			if j.Step == time.Second {
				j.Origin = view.CreateTime.Truncate(time.Second)
			}
			j.From = view.CreateTime.Add(time.Millisecond)
		}
		if j.Once {
			j.From = j.Origin
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
