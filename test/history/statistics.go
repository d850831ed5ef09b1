package history

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Statistic is what the statistics of a job come to.
type Statistic struct {
	JobID                                                    string
	Runs, Success, Failed, Timeout, Cancelled, Dead, Skipped int
}

// statistics checks that the statistics equal the rows: those of each job, and those of all together.
func (c *checker) statistics(rows map[string][]Row) {
	for _, got := range c.h.Statistics {
		if want := comeTo(got.JobID, rows[got.JobID]); got != want {
			c.violate(RuleStatistics, "%s: its rows come to %+v, its statistics say %+v", c.jobs[got.JobID].Name, want, got)
		}
	}
	if c.h.Total == nil {
		return
	}
	total := Statistic{}
	for job, all := range rows {
		if identity.IsStepID(job) {
			continue // one workflow run is one run
		}
		one := comeTo(job, all)
		total.Runs += one.Runs
		total.Success += one.Success
		total.Failed += one.Failed
		total.Timeout += one.Timeout
		total.Cancelled += one.Cancelled
		total.Dead += one.Dead
		total.Skipped += one.Skipped
	}
	if *c.h.Total != total {
		c.violate(RuleStatistics, "all rows come to %+v, the statistics of the cluster say %+v", total, *c.h.Total)
	}
}

// comeTo is what the rows of a job come to.
func comeTo(job string, rows []Row) Statistic {
	out, fires := Statistic{JobID: job}, map[string][]Row{}
	for _, r := range rows {
		if r.noRun() {
			continue
		}
		key := r.ID
		if r.ShardTotal > 1 && r.SkipCount == 0 && r.Trigger != "RETRY" {
			key = r.FireKey
		}
		fires[key] = append(fires[key], r)
	}
	for _, shards := range fires {
		out.add(shards)
	}
	return out
}

// noRun reports whether the row stands for no run: an item of a map, for which the map stands, the word of a person, or
// the result of a former workflow run.
func (r Row) noRun() bool {
	if identity.IsStepID(r.JobID) && strings.Contains(r.FireKey, "[") {
		return true
	}
	said := r.Reason == "OPERATOR" || r.Reason == "REUSED"
	return said && r.Status != "SKIPPED" && r.StartTime.IsZero()
}

// worst orders the states of a fire's shards as its outcome does.
var worst = [...]string{"DEAD", "TIMEOUT", "FAILED", "CANCELLED", "SKIPPED", "SUCCESS"}

// add counts a fire, by its worst shard.
func (s *Statistic) add(shards []Row) {
	for _, state := range worst {
		for _, r := range shards {
			if r.Status != state {
				continue
			}
			switch state {
			case "SKIPPED":
				s.Skipped += max(r.SkipCount, 1)
				return
			case "DEAD":
				s.Dead++
			case "FAILED":
				s.Failed++
			case "TIMEOUT":
				s.Timeout++
			case "CANCELLED":
				s.Cancelled++
			case "SUCCESS":
				s.Success++
			}
			s.Runs++
			return
		}
	}
}
