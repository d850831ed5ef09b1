package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The groups of jobs.
const (
	limited = "limited" // a limit of two
	bulk    = "bulk"    // users act on all of it
)

// job is a job of the simulation: what the oracle knows of it, its definition and its work.
type job struct {
	history.Job

	definition *entity.Job
	work       work
	// edited: users change it.
	edited bool
	paused bool
}

// define makes a job; change says what is special about it.
func define(name string, w work, change func(j *job)) *job {
	d := validation.NewJob("UTC")
	d.Name, d.Type, d.Class, d.Data = name, entity.JobCustom, handler, "{}"
	d.Schedule = schedule.Spec{Kind: schedule.None, TimeZone: "UTC"}
	w.name = name
	j := &job{Job: history.Job{Name: name, Shards: 1, Called: true, Lines: w.lines}, definition: d, work: w}
	if change != nil {
		change(j)
	}
	validation.Defaults(d, "UTC")
	return j
}

// each plans a job at a fixed rate.
func (j *job) each(step time.Duration) {
	j.Step = step
	j.definition.Schedule.Kind, j.definition.Schedule.IntervalMs = schedule.FixedRate, step.Milliseconds()
}

// cron plans a job at each step of a minute or an hour.
func (j *job) cron(step time.Duration) {
	j.Step = step
	text := fmt.Sprintf("0/%d * * * * ?", int(step.Seconds()))
	if step >= time.Minute {
		text = fmt.Sprintf("0 0/%d * * * ?", int(step.Minutes()))
	}
	j.definition.Schedule.Kind, j.definition.Schedule.CronExpression = schedule.Cron, text
}

func (j *job) retries(n int, interval time.Duration) {
	j.MaxRetries = n
	j.definition.Retry.MaxRetries, j.definition.Retry.IntervalMs = n, interval.Milliseconds()
}

func (j *job) overlap(p entity.OverlapPolicy) {
	j.definition.Overlap, j.OneAtATime, j.work.fence = p, true, true
}

func (j *job) misfire(p entity.MisfirePolicy) {
	j.definition.Misfire.Policy, j.definition.Misfire.ThresholdSec, j.definition.Misfire.MaxFires = p, 1, 3
}

const ms = time.Millisecond

// workload draws the jobs of a seed.
func workload(random *rand.Rand) (jobs []*job) {
	add := func(name string, w work, change func(j *job)) { jobs = append(jobs, define(name, w, change)) }
	quick := work{least: 10 * ms, most: 400 * ms}
	some := func(least, most time.Duration) work { return work{least: least, most: most} }
	add(byHand, quick, nil)
	add("each second", quick, func(j *job) { j.each(time.Second) })
	add("cron, at most two", some(time.Second, 20*time.Second), func(j *job) {
		j.cron(10 * time.Second)
		j.definition.MaxConcurrency, j.AtMost = 2, 2
	})
	for i := range 3 { // so that one of them mostly waits
		add(fmt.Sprint("limited ", i), some(time.Second, 8*time.Second), func(j *job) {
			j.cron(10 * time.Second)
			j.definition.Group, j.Group, j.GroupAtMost = limited, limited, 2
			if i == 1 {
				j.overlap(entity.OverlapSerial)
			}
		})
	}
	for name, p := range map[string]entity.OverlapPolicy{
		"serial": entity.OverlapSerial, "discard": entity.OverlapDiscard, "replace": entity.OverlapReplace,
	} {
		add(name, some(500*ms, 14*time.Second), func(j *job) {
			j.cron(10 * time.Second)
			j.overlap(p)
		})
	}
	add("three shards", quick, func(j *job) {
		j.cron(15 * time.Second)
		j.definition.ShardCount, j.Shards = 3, 3
	})
	add("fixed delay", some(100*ms, 2*time.Second), func(j *job) {
		j.Delay, j.OneAtATime, j.work.fence = 5*time.Second, true, true
		j.definition.Schedule.Kind, j.definition.Schedule.IntervalMs = schedule.FixedDelay, 5000
	})
	add("fails once", work{least: 10 * ms, most: 400 * ms, fails: 1}, func(j *job) {
		j.cron(20 * time.Second)
		j.retries(2, 2*time.Second)
	})
	add("always fails", work{least: 10 * ms, most: 400 * ms, fails: 1000}, func(j *job) {
		j.cron(30 * time.Second)
		j.retries(1, time.Second)
		j.definition.Labels = map[string]string{told: "yes"}
	})
	add("fails at times", work{least: 10 * ms, most: 400 * ms, often: 300}, func(j *job) {
		j.cron(20 * time.Second)
		j.definition.Labels = map[string]string{told: "yes"}
	})
	add("not after a loss", some(time.Second, 9*time.Second), func(j *job) {
		j.cron(10 * time.Second)
		j.OnceOnly, j.definition.OnNodeLoss = true, entity.NodeLossFail
	})
	for name, p := range map[string]entity.MisfirePolicy{
		"misfire once": entity.MisfireFireOnce, "misfire skip": entity.MisfireSkip, "misfire all": entity.MisfireFireAll,
	} {
		add(name, quick, func(j *job) {
			j.cron(15 * time.Second)
			j.misfire(p)
		})
	}
	add("long", some(5*time.Second, 40*time.Second), func(j *job) { j.cron(20 * time.Second) })
	add("out of time", work{least: 100 * ms, most: time.Second, slow: 300}, func(j *job) {
		j.cron(30 * time.Second)
		j.Called, j.definition.TimeoutSec = false, 4
	})
	add("jitter", quick, func(j *job) {
		j.cron(time.Minute)
		j.definition.Schedule.JitterMs = 5000
	})
	add("lines", work{least: 10 * ms, most: 4 * time.Second, lines: true}, func(j *job) { j.cron(20 * time.Second) })
	add("turns", quick, func(j *job) {
		j.cron(15 * time.Second)
		j.definition.Routing.Strategy = entity.RouteRoundRobin
	})
	for i := range 3 {
		add(fmt.Sprint("refused ", i), quick, func(j *job) {
			j.cron(10 * time.Second)
			j.Refused, j.Called = true, false
		})
	}
	for i := range 6 {
		add(fmt.Sprint("edited ", i), some(10*ms, 3*time.Second), func(j *job) {
			j.edited = true
			j.cron(one(random, 10*time.Second, 20*time.Second, 30*time.Second))
		})
	}
	for i := range 5 {
		add(fmt.Sprint("bulk ", i), some(10*ms, 3*time.Second), func(j *job) {
			j.definition.Group = bulk
			j.cron(one(random, 10*time.Second, 30*time.Second))
		})
	}
	for i := range 8 {
		add(fmt.Sprint("minute ", i), some(10*ms, 10*time.Second), func(j *job) { j.cron(time.Minute) })
	}
	return jobs
}

// byHand is the job that is triggered.
const byHand = "by hand"

// stored notes when a job was stored, which its grid counts from.
func (j *job) stored(as *entity.Job) {
	j.definition, j.ID = as, as.ID
	if j.Step == 0 {
		return
	}
	j.Origin, j.From = as.CreateTime, as.CreateTime.Add(time.Millisecond)
	if as.Schedule.Kind == schedule.Cron {
		j.Origin = as.CreateTime.Truncate(j.Step)
	}
}
