package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// steppedIDs are the jobs that steps of a workflow start.
func steppedIDs(job *entity.Job) (ids []string) {
	for _, n := range chain.NamesOf(job) {
		if n.Step {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// checkNesting refuses workflows that start one another too deep, and ones that hold a place of a group while they wait
// for another one: with all places held so, nothing would go on. The caller has locked the register of chains.
func (s *JobService) checkNesting(ctx context.Context, tx repository.Tx, job *entity.Job) error {
	if len(steppedIDs(job)) == 0 {
		return nil
	}
	below, down, err := s.below(ctx, job)
	if err != nil {
		return err
	}
	above, up, err := s.above(ctx, tx, job)
	if err != nil {
		return err
	}
	if up+down-1 > wf.MaxDepth {
		return apperror.InvalidField("jobData.steps", "too_deep", fmt.Sprintf(
			"workflows may start one another at most %d deep; do the work of one of them in steps of another", wf.MaxDepth))
	}
	limits := map[string]bool{}
	limited := func(j *entity.Job) (bool, error) {
		if known, ok := limits[j.Group]; ok {
			return known, nil
		}
		terms, err := tx.Groups.Terms(ctx, j.Group)
		limits[j.Group] = terms.Limited
		return terms.Limited, err
	}
	holder, err := firstOf(append([]*entity.Job{job}, above...), limited)
	if err != nil || holder == nil {
		return err
	}
	held, err := firstOf(below, limited)
	if err != nil || held == nil {
		return err
	}
	return apperror.InvalidField("jobData.steps", "limited_group", fmt.Sprintf("the workflow %s holds a place of the "+
		"group %s while it runs, and would wait for a place of the group %s, which the job %s needs: only one of both "+
		"groups may have a limit", holder.Name, holder.Group, held.Group, held.Name))
}

func firstOf(jobs []*entity.Job, is func(j *entity.Job) (bool, error)) (*entity.Job, error) {
	for _, j := range jobs {
		if yes, err := is(j); yes || err != nil {
			return j, err
		}
	}
	return nil, nil
}

// below are the jobs that steps of a workflow start, and those of the workflows among them. depth counts the workflows
// in a row, with this one.
func (s *JobService) below(ctx context.Context, job *entity.Job) (all []*entity.Job, depth int, err error) {
	level := []*entity.Job{job}
	for len(level) > 0 && depth <= wf.MaxDepth {
		depth++
		var ids []string
		for _, w := range level {
			ids = append(ids, steppedIDs(w)...)
		}
		found, err := s.jobsOf(ctx, ids)
		if err != nil {
			return nil, 0, err
		}
		all, level = append(all, found...), workflows(found)
	}
	return all, depth, nil
}

// above are the workflows whose steps start a job, and those that start these. depth counts the workflows in a row,
// with this one.
func (s *JobService) above(ctx context.Context, tx repository.Tx, job *entity.Job) (all []*entity.Job, depth int,
	err error,
) {
	level := []*entity.Job{job}
	for len(level) > 0 && depth <= wf.MaxDepth {
		depth++
		ids := convert.All(level, func(j *entity.Job) string { return j.ID })
		edges, err := tx.Chains.EdgesTo(ctx, ids)
		if err != nil {
			return nil, 0, fmt.Errorf("read the register of chains: %w", err)
		}
		found, err := s.jobsOf(ctx, convert.All(edges, func(e repository.ChainEdge) string { return e.JobID }))
		if err != nil {
			return nil, 0, err
		}
		level = slices.DeleteFunc(workflows(found), func(w *entity.Job) bool {
			return !slices.ContainsFunc(steppedIDs(w), func(id string) bool { return slices.Contains(ids, id) })
		})
		all = append(all, level...)
	}
	return all, depth, nil
}

// jobsOf reads jobs, each once.
func (s *JobService) jobsOf(ctx context.Context, ids []string) ([]*entity.Job, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	found, err := s.Jobs.ByIDs(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("read the jobs that steps start: %w", err)
	}
	return found, nil
}

func workflows(jobs []*entity.Job) (found []*entity.Job) {
	for _, j := range jobs {
		if j.Type == entity.JobWorkflow {
			found = append(found, j)
		}
	}
	return found
}

// nestingPage is how many workflows are read at once: their steps are long.
const nestingPage = 50

// maxInTheWay is how many workflows an answer names.
const maxInTheWay = 10

// MayLimit refuses a limit of a group by which a workflow would hold a place while it waits for another one.
func (s *JobService) MayLimit(ctx context.Context, group string, limited func(group string) (bool, error)) error {
	var inTheWay []string
	page := repository.Page{Limit: nestingPage}
	for {
		jobs, next, err := s.Jobs.List(ctx, repository.JobFilter{Type: entity.JobWorkflow}, page)
		if err != nil {
			return err
		}
		for _, w := range jobs {
			stands, err := s.standsInTheWay(ctx, w, group, limited)
			if err != nil {
				return err
			}
			if stands {
				inTheWay = append(inTheWay, w.Group+"/"+w.Name)
			}
		}
		if page.Cursor = next; next == "" || len(inTheWay) > maxInTheWay {
			break
		}
	}
	if len(inTheWay) == 0 {
		return nil
	}
	if len(inTheWay) > maxInTheWay {
		inTheWay = append(inTheWay[:maxInTheWay], "others")
	}
	return apperror.Conflict("workflows_would_wait",
		"with a limit of the group %s these workflows would hold a place while they wait for another one: %s; take the "+
			"limit of the other group away, or change their steps", group, strings.Join(inTheWay, ", "))
}

// standsInTheWay reports whether a workflow holds a place and waits for one, where the group has a limit.
func (s *JobService) standsInTheWay(ctx context.Context, w *entity.Job, group string,
	limited func(group string) (bool, error),
) (bool, error) {
	bound := func(j *entity.Job) (bool, error) {
		if j.Group == group {
			return true, nil
		}
		return limited(j.Group)
	}
	if holds, err := bound(w); err != nil || !holds {
		return false, err
	}
	below, _, err := s.below(ctx, w)
	if err != nil {
		return false, err
	}
	held, err := firstOf(below, bound)
	if held == nil || err != nil {
		return false, err
	}
	return w.Group == group || slices.ContainsFunc(below, func(j *entity.Job) bool { return j.Group == group }), nil
}
