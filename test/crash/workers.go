package crash

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// WorkerHandler is the handler of the jobs of workers.
const WorkerHandler = "call"

// ofWorkers are jobs that workers alone run, with the rules that the nodes' own jobs have.
func ofWorkers(target string, size Size) []definition {
	of := func(name, query string, j history.Job, more map[string]any) definition {
		d := onWorkers(target, name, query, j, size.Workers)
		maps.Copy(d.body, more)
		return d
	}
	second, seconds := every(1, nil), size.longSerial()
	list := []definition{
		of("serial", "fence&ms=300", history.Job{Step: time.Second, OneAtATime: true},
			map[string]any{"schedule": second, "overlapPolicy": "SERIAL"}),
		of("long", "ms=6000", history.Job{Step: 2 * time.Second}, map[string]any{"schedule": every(2, nil)}),
		of("long, serial", "fence&ms=5000",
			history.Job{Step: time.Duration(seconds) * time.Second, OneAtATime: true},
			map[string]any{"schedule": every(seconds, nil), "overlapPolicy": "SERIAL"}),
		of("not after a loss", "ms=400", history.Job{Step: time.Second, OnceOnly: true},
			map[string]any{"schedule": second, "onNodeLoss": "FAIL"}),
		of("fails once", "ms=5&fail=1", history.Job{Step: time.Second, MaxRetries: 2},
			map[string]any{"schedule": second, "retryPolicy": map[string]any{"maxRetries": 2, "intervalMs": 100}}),
		of("three shards", "ms=100", history.Job{Step: time.Second, Shards: 3},
			map[string]any{"schedule": second, "shardCount": 3}),
		of("at most two", "ms=900", history.Job{Step: time.Second, AtMost: 2},
			map[string]any{"schedule": second, "maxConcurrency": 2}),
	}
	for i := range 4 {
		list = append(list, of(fmt.Sprintf("fill %d", i), "ms=10", history.Job{Step: 500 * time.Millisecond},
			map[string]any{"schedule": rate(500)}))
	}
	return list
}

// onWorkers is a job that the workers alone run.
func onWorkers(target, name, query string, j history.Job, workers []string) definition {
	j.Name, j.Called, j.Nodes = "worker, "+name, true, workers
	return definition{j, map[string]any{
		"jobType": "CUSTOM", "jobClass": WorkerHandler, "jobData": call(target, query),
		"routing": map[string]any{"workers": "shop"},
	}}
}

// CreateLong adds so many jobs for workers. Each fires at every step, and each of its runs lasts so long.
func CreateLong(ctx context.Context, c *Client, target string, jobs int, step, last time.Duration, workers []string) (
	[]history.Job, error,
) {
	var all []history.Job
	for i := range jobs {
		d := onWorkers(target, fmt.Sprintf("under way %d", i), fmt.Sprintf("ms=%d", last.Milliseconds()),
			history.Job{Step: step}, workers)
		d.body["schedule"] = rate(int(step.Milliseconds()))
		j, err := create(ctx, c, d)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return all, nil
}
