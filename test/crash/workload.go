package crash

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Size says how large the workload is.
type Size struct {
	// Copies of every kind of job, at least one.
	Copies int
	// Fill is the number of further jobs, half of them calls, that fire twice
	// a second each.
	Fill int
	// Once is the number of ONCE jobs, 10 when 0, three seconds apart.
	Once int
	// Commands is the file that commands write their ledger to; empty: none.
	Commands string
	// Wide adds fires of many shards, Async calls whose targets report to any node.
	Wide, Async bool
	// Handlers adds jobs of handlers, each of which the named nodes alone have.
	Handlers map[string][]string
	// Workers are the ids of the workers of the group shop; jobs that only they run are added where there are any.
	Workers []string
	// Flows adds workflows, drawn by Seed, whose schedules are slower by the factor Pace; 0 is 1.
	Flows bool
	Seed  uint64
	Pace  int
	// Small adds workflows of a few steps, which fire more often and do not heed Pace.
	Small bool
	// Long adds runs that take longer than a lease.
	Long bool
	// Former leaves out what nodes of the former release do not know: chains.
	Former bool
}

// definition is a job of the workload and what the checker must know of it.
type definition struct {
	job  history.Job
	body map[string]any
}

// every is a cron schedule of that many seconds, which must divide a minute.
func every(seconds int, misfire map[string]any) map[string]any {
	s := map[string]any{"kind": "CRON", "cronExpression": fmt.Sprintf("0/%d * * * * ?", seconds)}
	maps.Copy(s, misfire)
	return s
}

func rate(ms int) map[string]any { return map[string]any{"kind": "FIXED_RATE", "intervalMs": ms} }

func call(target, query string) map[string]any {
	return map[string]any{"method": "GET", "url": target + "/?" + query}
}

// kinds has a job of every schedule kind and overlap policy, with shards,
// retries, misfire policies and both answers to the loss of a node.
func kinds(target string) []definition {
	grid := time.Second
	second := every(1, nil)
	retry := func(n int) map[string]any { return map[string]any{"maxRetries": n, "intervalMs": 100} }
	return []definition{
		{history.Job{Name: "cron, parallel", Step: grid, Called: true}, map[string]any{
			"jobData":  call(target, "ms=20"),
			"schedule": second,
		}},
		{
			history.Job{Name: "cron, at most two", Step: grid, Called: true, AtMost: 2},
			map[string]any{"jobData": call(target, "ms=900"), "schedule": second, "maxConcurrency": 2},
		},
		{
			history.Job{Name: "limited with another", Step: 2 * grid, Called: true, Group: limitedGroup, GroupAtMost: 2},
			map[string]any{"jobData": call(target, "ms=700"), "schedule": every(2, nil)},
		},
		{history.Job{
			Name: "limited, serial", Step: 2 * grid, Called: true, OneAtATime: true, Group: limitedGroup,
			GroupAtMost: 2,
		}, map[string]any{
			"jobData": call(target, "fence&ms=500"), "schedule": every(2, nil),
			"overlapPolicy": "SERIAL",
		}},
		{
			history.Job{Name: "serial", Step: grid, OneAtATime: true, Called: true},
			map[string]any{"jobData": call(target, "fence&ms=300"), "schedule": second, "overlapPolicy": "SERIAL"},
		},
		{
			history.Job{Name: "discard", Step: grid, OneAtATime: true, Called: true},
			map[string]any{"jobData": call(target, "fence&ms=1300"), "schedule": second, "overlapPolicy": "DISCARD"},
		},
		{
			history.Job{Name: "replace", Step: grid, OneAtATime: true, Called: true},
			map[string]any{"jobData": call(target, "fence&ms=1300"), "schedule": second, "overlapPolicy": "REPLACE"},
		},
		{
			history.Job{Name: "three shards", Step: grid, Shards: 3, Called: true},
			map[string]any{"jobData": call(target, "ms=100"), "schedule": second, "shardCount": 3},
		},
		{history.Job{Name: "fixed rate", Step: 500 * time.Millisecond}, map[string]any{"schedule": rate(500)}},
		{
			history.Job{Name: "fixed delay", OneAtATime: true, Delay: 300 * time.Millisecond, Called: true},
			map[string]any{"jobData": call(target, "fence&ms=100"), "schedule": map[string]any{
				"kind":       "FIXED_DELAY",
				"intervalMs": 300,
			}},
		},
		{
			history.Job{Name: "fails once", Step: grid, MaxRetries: 2, Called: true},
			map[string]any{"jobData": call(target, "ms=5&fail=1"), "schedule": second, "retryPolicy": retry(2)},
		},
		{history.Job{Name: "always fails", Step: grid, MaxRetries: 1}, map[string]any{
			"jobData":  call(target, "ms=5&fail=99"),
			"schedule": second, "retryPolicy": retry(1),
		}},
		{
			history.Job{Name: "not after a loss", Step: grid, Called: true, OnceOnly: true},
			map[string]any{"jobData": call(target, "ms=400"), "schedule": second, "onNodeLoss": "FAIL"},
		},
		{
			history.Job{Name: "misfire once", Step: grid},
			map[string]any{"schedule": every(1, map[string]any{"misfireThresholdSec": 1})},
		},
		{
			history.Job{Name: "misfire skip", Step: grid},
			map[string]any{"schedule": every(1, map[string]any{"misfireThresholdSec": 1, "misfirePolicy": "SKIP"})},
		},
		{
			history.Job{Name: "misfire all", Step: grid},
			map[string]any{"schedule": every(1, map[string]any{
				"misfireThresholdSec": 1, "misfirePolicy": "FIRE_ALL",
				"misfireMaxFires": 3,
			})},
		},
	}
}

// chained are jobs that start one another, with shards between, after ends of each kind.
func chained(target string) []definition {
	plain := map[string]any{"kind": "NONE"}
	start := func(job, on string) map[string]any { return map[string]any{"job": job, "on": on} }
	return []definition{
		{
			history.Job{Name: "chained, last", Called: true},
			map[string]any{"jobData": call(target, "ms=10"), "schedule": plain},
		},
		{history.Job{Name: "chained, end"}, map[string]any{"schedule": plain}},
		{
			history.Job{
				Name: "chained, shards", Called: true, Shards: 2, Next: []history.Next{{Name: "chained, last", On: "END"}},
			},
			map[string]any{
				"jobData": call(target, "ms=20"), "schedule": plain, "shardCount": 2,
				"next": []any{start("chained, last", "END")},
			},
		},
		{
			history.Job{Name: "chained, first", Step: time.Second, Called: true, Next: []history.Next{
				{Name: "chained, shards", On: "SUCCESS"}, {Name: "chained, end", On: "FAILURE"},
			}},
			map[string]any{
				"jobData": call(target, "ms=30"), "schedule": every(1, nil),
				"next": []any{start("chained, shards", "SUCCESS"), start("chained, end", "FAILURE")},
			},
		},
		{
			history.Job{Name: "chained, fails", Step: 2 * time.Second, MaxRetries: 1, Next: []history.Next{
				{Name: "chained, shards", On: "FAILURE"}, {Name: "chained, end", On: "END"}, {Name: "chained, last", On: "SUCCESS"},
			}},
			map[string]any{
				"jobData": call(target, "ms=5&fail=99"), "schedule": every(2, nil),
				"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 100},
				"next": []any{
					start("chained, shards", "FAILURE"), start("chained, end", "END"), start("chained, last", "SUCCESS"),
				},
			},
		},
	}
}

// accepted are calls that their target accepts, and reports of to any node.
func accepted(target string) []definition {
	of := func(ms int) map[string]any {
		data := call(target, fmt.Sprintf("async&ms=%d", ms))
		data["async"] = true
		return data
	}
	return []definition{
		{
			history.Job{Name: "accepted", Step: time.Second, Called: true},
			map[string]any{"jobData": of(300), "schedule": every(1, nil), "timeoutSec": 300},
		},
		{
			history.Job{Name: "accepted, long", Step: 5 * time.Second, Called: true},
			map[string]any{"jobData": of(8000), "schedule": every(5, nil), "timeoutSec": 300},
		},
		{
			history.Job{Name: "accepted, serial", Step: 2 * time.Second, OneAtATime: true, Called: true},
			map[string]any{"jobData": of(700), "schedule": every(2, nil), "timeoutSec": 300, "overlapPolicy": "SERIAL"},
		},
	}
}

// longSerial is the seconds between two fires of a job whose run of five seconds has to end before the next begins.
// Beside workflows two nodes are killed in a round, so that a run takes 24 s on average: a job that fires more often
// than that has a queue that only grows.
func (s Size) longSerial() int {
	if s.Flows {
		return 30
	}
	return 10
}

// long are runs that outlive a lease.
func long(target string, size Size) []definition {
	seconds := size.longSerial()
	return []definition{
		{
			history.Job{Name: "long, parallel", Step: 2 * time.Second, Called: true},
			map[string]any{"jobData": call(target, "ms=6000"), "schedule": every(2, nil)},
		},
		{
			history.Job{Name: "long, serial", Step: time.Duration(seconds) * time.Second, OneAtATime: true, Called: true},
			map[string]any{
				"jobData": call(target, "fence&ms=5000"), "schedule": every(seconds, nil), "overlapPolicy": "SERIAL",
			},
		},
		{
			history.Job{Name: "long, not after a loss", Step: 5 * time.Second, Called: true, OnceOnly: true},
			map[string]any{"jobData": call(target, "ms=4000"), "schedule": every(5, nil), "onNodeLoss": "FAIL"},
		},
	}
}

// fill are small jobs of half a second each.
func fill(target string, n int) []definition {
	list := make([]definition, 0, n)
	for i := range n {
		d := definition{
			history.Job{Name: fmt.Sprintf("fill %d", i), Step: 500 * time.Millisecond},
			map[string]any{"schedule": rate(500)},
		}
		if i%2 == 0 {
			d.job.Called, d.body["jobData"] = true, call(target, "ms=10")
		}
		list = append(list, d)
	}
	return list
}

// workload is all of it but the ONCE jobs.
func workload(target string, size Size) []definition {
	list := []definition{{history.Job{Name: handJob}, map[string]any{"schedule": map[string]any{"kind": "NONE"}}}}
	for i := range max(size.Copies, 1) {
		for _, d := range kinds(target) {
			if i > 0 {
				d.job.Name = fmt.Sprintf("%s, %d", d.job.Name, i+1)
				if d.job.Group != "" {
					d.job.Group = fmt.Sprintf("%s-%d", d.job.Group, i+1)
				}
			}
			list = append(list, d)
		}
	}
	if !size.Former {
		list = append(list, chained(target)...)
	}
	if size.Flows {
		list = append(list, flows(target, size)...)
	}
	list = append(list, fill(target, size.Fill)...)
	if size.Commands != "" {
		list = append(list, commands(size.Commands)...)
	}
	if size.Long {
		list = append(list, long(target, size)...)
	}
	if size.Wide {
		list = append(list, definition{
			history.Job{Name: "64 shards", Step: 10 * time.Second, Shards: 64, Called: true},
			map[string]any{"jobData": call(target, "ms=50"), "schedule": every(10, nil), "shardCount": 64},
		})
	}
	if size.Async {
		list = append(list, accepted(target)...)
	}
	if len(size.Workers) > 0 {
		list = append(list, ofWorkers(target, size)...)
	}
	for _, name := range slices.Sorted(maps.Keys(size.Handlers)) {
		list = append(list, definition{
			history.Job{Name: "handler " + name, Step: 2 * time.Second, Called: true, Nodes: size.Handlers[name]},
			map[string]any{"jobType": "CUSTOM", "jobClass": name, "jobData": call(target, "ms=50"), "schedule": every(2, nil)},
		})
	}
	return list
}

// onceJob is the i-th job that fires once: three seconds after the one before, and two seconds
// after it is made at the earliest, because a slow machine makes the jobs before it for long.
func onceJob(i int, began, now time.Time) definition {
	at := began.Add(time.Duration(2+3*i) * time.Second)
	if soonest := now.Add(2 * time.Second); at.Before(soonest) {
		at = soonest
	}
	at = at.Truncate(time.Millisecond)
	return definition{
		history.Job{Name: fmt.Sprintf("once %d", i), Once: true, Origin: at},
		map[string]any{"schedule": map[string]any{"kind": "ONCE", "at": at.UTC()}},
	}
}

// limitedGroup is the group of jobs that share a limit.
const limitedGroup = "limited"

// handJob is the job that is triggered.
const handJob = "by hand"

// ByHand is the id of the job that is triggered.
func ByHand(jobs []history.Job) string {
	for _, j := range jobs {
		if j.Name == handJob {
			return j.ID
		}
	}
	return ""
}

// CreateAll adds the workload and returns it as the checker knows it.
func CreateAll(ctx context.Context, c *Client, target string, size Size) ([]history.Job, error) {
	var jobs []history.Job
	groups := map[string]bool{"": true}
	add := func(d definition) error {
		if g := d.job.Group; !groups[g] {
			if err := c.CreateGroup(ctx, g, d.job.GroupAtMost); err != nil {
				return fmt.Errorf("create the group %q: %w", g, err)
			}
			groups[g] = true
		}
		if d.job.Group != "" {
			d.body["group"] = d.job.Group
		}
		j, err := create(ctx, c, d)
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
		return nil
	}
	for _, d := range workload(target, size) {
		if err := add(d); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	for i := range cmp.Or(size.Once, 10) {
		if err := add(onceJob(i, began, time.Now())); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// create adds a job, and returns it as the checker knows it.
func create(ctx context.Context, c *Client, d definition) (history.Job, error) {
	d.body["name"] = d.job.Name
	switch {
	case d.body["jobType"] != nil:
	case d.body["jobData"] != nil:
		d.body["jobType"] = "HTTP"
	default:
		d.body["jobType"], d.body["jobClass"] = "CUSTOM", "noop"
	}
	view, err := c.Create(ctx, d.body)
	if err != nil {
		return d.job, fmt.Errorf("create the job %q: %w", d.job.Name, err)
	}
	j := d.job
	j.ID, j.Shards = view.ID, max(j.Shards, 1)
	if j.Step > 0 {
		// A fixed rate counts from the creation, a cron from full seconds.
		j.Origin = view.CreateTime
		if j.Step >= time.Second {
			j.Origin = view.CreateTime.Truncate(j.Step)
		}
		j.From = view.CreateTime.Add(time.Millisecond)
	}
	if j.Once {
		j.From = j.Origin
	}
	return j, nil
}
