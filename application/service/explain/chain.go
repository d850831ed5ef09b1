package explain

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

const (
	// chainPages bounds the pages of the ledger in which the fire of a chain is looked for.
	chainPages = 5
	// startersShown bounds the jobs that are told of as those that start a job.
	startersShown = 5
)

// chained tells what started a fire, and what its end started.
func (c *inquiry) chained(ctx context.Context, e *entity.LedgerEntry) error {
	if !c.SeesRuns {
		return nil
	}
	if e.StartedBy != "" {
		if err := c.startedBy(ctx, e.StartedBy); err != nil {
			return err
		}
	}
	return c.starts(ctx, e)
}

func (c *inquiry) startedBy(ctx context.Context, id string) error {
	runs, err := c.Executions.ByIDs(ctx, []string{id})
	if err != nil {
		return err
	}
	p := Params{"runId": id}
	if len(runs) == 1 {
		names, err := c.titles(ctx, runs[0].JobID)
		if err != nil {
			return err
		}
		if names[runs[0].JobID] == "" {
			return nil // of a group that the caller does not see
		}
		p["startedByJob"] = names[runs[0].JobID]
		if runs[0].ShardTotal <= 1 {
			p["status"], p["reason"] = string(runs[0].Status), runs[0].Reason
		}
	}
	c.add(FactStartedBy, id, p)
	return nil
}

// starts tells what became of the jobs that follow a fire which is over.
func (c *inquiry) starts(ctx context.Context, e *entity.LedgerEntry) error {
	if len(e.ExecutionIDs) == 0 || !entity.Status(e.Outcome).Final() {
		return nil
	}
	runs, err := c.Executions.ByIDs(ctx, e.ExecutionIDs)
	if err != nil || len(runs) == 0 {
		return err
	}
	job, err := c.definitionOf(ctx, runs[0].JobVersion)
	if err != nil || job == nil || len(job.Next) == 0 {
		return err
	}
	end, over := chain.EndOf(job, runs)
	if !over {
		return nil
	}
	var next, first []string
	for _, n := range job.Next {
		next, first = append(next, n.Job), append(first, chain.ID(end, n.Job))
	}
	names, err := c.titles(ctx, next...)
	if err != nil {
		return err
	}
	rows, err := c.Executions.ByIDs(ctx, first)
	if err != nil {
		return err
	}
	started := entity.ByID(rows)
	for i, n := range job.Next {
		p := Params{"nextJob": names[n.Job], "on": string(n.On), "outcome": string(end.Outcome)}
		if names[n.Job] == "" {
			continue // of a group that the caller does not see
		}
		if slices.Contains(next[:i], n.Job) && started[first[i]] != nil {
			continue // told before
		}
		r := started[first[i]]
		switch {
		case !n.On.Matches(end.Outcome):
			if !slices.ContainsFunc(job.Next, func(o entity.Next) bool {
				return o.Job == n.Job && o.On.Matches(end.Outcome)
			}) {
				c.add(FactNotFollowed, "", p)
			}
		case r == nil && end.Ended.Before(c.now.Add(-c.Kept)) && c.Kept > 0: // too old to be there
		case r == nil:
			c.add(FactOwed, "", p)
		case refused(r):
			p["runId"], p["reason"], p["message"] = r.ID, r.Reason, r.ErrorMessage
			c.add(FactNotStarted, r.ID, p)
		default:
			p["runId"], p["status"] = r.ID, string(r.Status)
			c.add(FactStarted, r.ID, p)
		}
	}
	return nil
}

// refused reports whether a run ended before it began: nothing of it ran.
func refused(r *entity.Execution) bool {
	return r.Status == entity.StatusSkipped || r.Status.Final() && r.Status != entity.StatusSuccess && r.StartTime.IsZero()
}

// definitionOf is the job at a version; nil where nobody knows it any more.
func (c *inquiry) definitionOf(ctx context.Context, version int) (*entity.Job, error) {
	if version == c.job.Version {
		return c.job, nil
	}
	return repository.VersionOrNil(ctx, c.Jobs, c.job.ID, version)
}

// titles are jobs as people name them here: those of another group with their group, if the caller sees its runs.
func (c *inquiry) titles(ctx context.Context, ids ...string) (map[string]string, error) {
	known, err := c.Jobs.Titles(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(ids))
	for _, id := range ids {
		title, ok := known[id]
		switch {
		case !ok:
			out[id] = id
		case title.Group == c.job.Group:
			out[id] = title.Name
		case c.SeesRunsOf == nil || c.SeesRunsOf(title.Group):
			out[id] = title.String()
		}
	}
	return out, nil
}

// starters are the jobs that start this one, by their edges.
func (c *inquiry) starters(ctx context.Context) ([]*entity.Job, error) {
	edges, err := c.Chains.EdgesTo(ctx, []string{c.job.ID})
	if err != nil || len(edges) == 0 {
		return nil, err
	}
	var jobs []*entity.Job
	for _, e := range edges[:min(len(edges), startersShown)] {
		job, err := c.Jobs.Get(ctx, e.JobID)
		if apperror.Is(err, apperror.KindNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// ofChain is the line of a fire that another job's fire of the moment has started. It stands in the ledger at the
// moment of that end, which may be long after.
func (c *inquiry) ofChain(ctx context.Context) (*entity.LedgerEntry, error) {
	edges, err := c.Chains.EdgesTo(ctx, []string{c.job.ID})
	if err != nil || len(edges) == 0 && c.job.Schedule.Kind != schedule.None && c.job.Schedule.Kind != "" {
		return nil, err
	}
	q := entity.LedgerQuery{JobID: c.job.ID, From: c.At, To: c.At.Add(back), Limit: pageLines}
	var found *entity.LedgerEntry
	for range chainPages {
		entries, next, err := c.Ledger(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range entries { // newest first
			if e := &entries[i]; e.StartedBy != "" && e.ScheduledTime.Equal(c.At) {
				found = e
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	return found, nil
}

// follows tells of a job without a fire at the moment which jobs start it, and what became of theirs.
func (c *inquiry) follows(ctx context.Context) error {
	if !c.SeesRuns {
		return nil
	}
	starters, err := c.starters(ctx)
	if err != nil {
		return err
	}
	titles, err := c.titles(ctx, convert.All(starters, func(j *entity.Job) string { return j.ID })...)
	if err != nil {
		return err
	}
	for _, s := range starters {
		if titles[s.ID] == "" {
			continue
		}
		e, err := (&inquiry{ExplainService: c.ExplainService, Query: c.Query, job: s, now: c.now}).ofStarter(ctx)
		if err != nil {
			return err
		}
		for _, n := range s.Next {
			if n.Job != c.job.ID {
				continue
			}
			p := Params{"startedByJob": titles[s.ID], "on": string(n.On)}
			if e != nil {
				p["time"], p["outcome"], p["reason"] = e.ScheduledTime, e.Outcome, e.Reason
			}
			c.add(FactFollows, s.ID, p)
		}
	}
	return nil
}

// ofStarter is the fire of a job that starts others at the moment; its latest one where none was asked for.
func (c *inquiry) ofStarter(ctx context.Context) (*entity.LedgerEntry, error) {
	if c.latestAsked || c.At.IsZero() {
		return c.before(ctx, c.now)
	}
	return c.of(ctx, c.At)
}
