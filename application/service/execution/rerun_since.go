package execution

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// successLook is how many of the newest runs of a job are looked at for a success.
const successLook = 200

// since knows of jobs whether they exist, and which of their fires succeeded last.
type since struct {
	s *ExecutionService
	// last is the planned time of the latest fire of a job that succeeded as a whole; zero where none is known.
	last map[string]time.Time
	live map[string]bool
}

func newSince(s *ExecutionService) *since {
	return &since{s: s, last: map[string]time.Time{}, live: map[string]bool{}}
}

// know learns of the jobs of runs; ignore leaves out what succeeded.
func (j *since) know(ctx context.Context, rows []*entity.Execution, ignore bool) error {
	fresh := map[string]bool{}
	for _, row := range rows {
		if _, known := j.live[row.JobID]; !known {
			fresh[row.JobID] = true
		}
	}
	ids := slices.Sorted(maps.Keys(fresh))
	versions, err := j.s.Jobs.Versions(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, j.live[id] = versions[id]
		if ignore || !j.live[id] {
			continue
		}
		newest, err := j.s.Executions.Outcomes(ctx, id, "", successLook)
		if err != nil {
			return err
		}
		j.last[id] = lastSuccess(newest)
	}
	return nil
}

func (j *since) deleted(jobID string) bool { return !j.live[jobID] }

// succeeded reports whether a later fire of the job of a run succeeded.
func (j *since) succeeded(row *entity.Execution) bool {
	return j.last[row.JobID].After(row.ScheduledTime)
}

// lastSuccess is the planned time of the latest fire of which all runs succeeded; they come newest first. A
// repetition by hand is no fire: it may be one shard of many. Where not all runs of the job were looked at, the
// oldest fire may lack some, and does not count.
func lastSuccess(newest []*entity.Execution) (last time.Time) {
	fires := slices.DeleteFunc(newest, func(row *entity.Execution) bool { return row.RetryOf != "" })
	failed := map[string]bool{}
	if len(newest) == successLook && len(fires) > 0 {
		failed[fires[len(fires)-1].FireKey] = true
	}
	for _, row := range fires {
		if row.Status != entity.StatusSuccess {
			failed[row.FireKey] = true
		}
	}
	for _, row := range fires {
		if !failed[row.FireKey] && row.ScheduledTime.After(last) {
			last = row.ScheduledTime
		}
	}
	return last
}

// causeCounts counts runs by their cause.
type causeCounts map[string]*RerunCause

// add counts a run; runs come newest first.
func (c causeCounts) add(id string, row *entity.Execution) {
	if c[id] == nil {
		c[id] = &RerunCause{Cause: id, Reason: row.Reason, Last: row}
	}
	c[id].Count++
}

func (c causeCounts) mostFirst() []RerunCause {
	all := make([]RerunCause, 0, len(c))
	for _, one := range c {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b RerunCause) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Cause, b.Cause)) })
	return all[:min(len(all), maxCauses)]
}

// mostFirst lists the jobs of failures, the one with most of them first.
func mostFirst(counts map[string]int) []FailureJob {
	jobs := make([]FailureJob, 0, len(counts))
	for id, n := range counts {
		jobs = append(jobs, FailureJob{id, n})
	}
	slices.SortFunc(jobs, func(a, b FailureJob) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.ID, b.ID)) })
	return jobs
}
