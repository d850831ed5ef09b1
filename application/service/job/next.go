package job

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// resolveNames puts ids in the place of the names of jobs that follow, or that steps start, and says which names are of
// nothing.
func (s *JobService) resolveNames(ctx context.Context, job *entity.Job) (wrong []apperror.Field, err error) {
	if len(job.Next) > entity.MaxNext {
		return nil, nil
	}
	all := chain.NamesOf(job)
	if len(all) == 0 {
		return nil, nil
	}
	var names []repository.JobName
	var ids []string
	for _, n := range all {
		if n.ID == "" {
			names = append(names, repository.ReadJobName(job.Group, n.Name))
		} else {
			ids = append(ids, n.ID)
		}
	}
	named, err := s.Names.JobsNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	there, err := s.Jobs.Versions(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range all {
		n := &all[i]
		name, remedy := repository.ReadJobName(job.Group, n.Name), ""
		if n.ID != "" {
			if _, known := there[n.ID]; !known {
				remedy = fmt.Sprintf("the job %s was deleted; take it out", validation.Text(n.Name, 2*validation.MaxName))
			}
		} else if found := named[name]; found != nil {
			n.ID, n.Name = found.ID, name.String()
		} else {
			remedy = fmt.Sprintf("there is no job %q in the group %s; make it first, or write group/name",
				validation.Text(name.Name, validation.MaxName), validation.Text(name.Group, validation.MaxGroup))
		}
		if remedy != "" {
			wrong = append(wrong, apperror.Field{Field: n.Field, Code: "unknown_job", Message: remedy})
		}
	}
	chain.SetNames(job, all)
	return wrong, nil
}

// checkNext says what is wrong with jobs that follow, but for names of nothing.
func checkNext(job *entity.Job) (wrong []apperror.Field) {
	if len(job.Next) > entity.MaxNext {
		return nil // refused for their number
	}
	for i, n := range job.Next {
		again := func(o entity.Next) bool { return o.Job == n.Job && o.On.Meets(n.On) }
		if n.Job != "" && slices.ContainsFunc(job.Next[:i], again) {
			wrong = append(wrong, apperror.Field{
				Field: fmt.Sprintf("next[%d].job", i), Code: validation.CodeConflict,
				Message: "stands there already for that end, which starts a job once: leave one out",
			})
		}
		if remedy := chain.Check(job, n.Params); remedy != "" {
			wrong = append(wrong, apperror.Field{
				Field: fmt.Sprintf("next[%d].params", i), Code: validation.CodeInvalid, Message: remedy,
			})
		}
	}
	return wrong
}

// NameNext fills in the present names of jobs that follow others, or that steps start. A deleted job that would follow
// has none; a step keeps the name that it was given.
func (s *JobService) NameNext(ctx context.Context, jobs ...*entity.Job) error {
	ids, named := map[string]bool{}, make([][]chain.Named, len(jobs))
	for i, job := range jobs {
		named[i] = chain.NamesOf(job)
		for _, n := range named[i] {
			ids[n.ID] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Keys(ids))
	there, err := s.Jobs.Versions(ctx, all)
	if err != nil {
		return err
	}
	titles, err := s.Jobs.Titles(ctx, all)
	if err != nil {
		return err
	}
	for i, job := range jobs {
		if len(named[i]) == 0 {
			continue
		}
		for k := range named[i] {
			n := &named[i][k]
			if there[n.ID] != 0 {
				n.Name = titles[n.ID].String()
			} else if !n.Step {
				n.Name = ""
			}
		}
		chain.SetNames(job, named[i])
	}
	return nil
}

// Starters are the jobs, as group/name and in order, that start a job and whose groups are seen.
func (s *JobService) Starters(ctx context.Context, id string, sees func(group string) bool) ([]string, error) {
	edges, err := s.Chains.EdgesTo(ctx, []string{id})
	if err != nil || len(edges) == 0 {
		return nil, err
	}
	ids := make([]string, len(edges))
	for i, e := range edges {
		ids[i] = e.JobID
	}
	titles, err := s.Jobs.Titles(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, title := range titles {
		if sees(title.Group) {
			out = append(out, title.String())
		}
	}
	slices.Sort(out)
	return out, nil
}

// nextIDs are the jobs that follow, or that steps start, each once and in order.
func nextIDs(job *entity.Job) []string {
	var ids []string
	for _, n := range chain.NamesOf(job) {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// registerNext keeps the register of who starts whom, in the transaction that stores the job. It refuses circles,
// chains that are too deep and workflows that would wait for themselves, and the first edge or workflow of all while a
// node is up that would not follow it.
func (s *JobService) registerNext(ctx context.Context, tx repository.Tx, former, job *entity.Job) error {
	ids, schema := nextIDs(job), int64(entity.ChainSchema)
	if job.Type == entity.JobWorkflow {
		schema = wf.Schema
	}
	same := former == nil && len(ids) == 0 && job.Type != entity.JobWorkflow ||
		former != nil && slices.Equal(nextIDs(former), ids) && slices.Equal(steppedIDs(former), steppedIDs(job)) &&
			former.Type == job.Type
	if same {
		return nil
	}
	known, err := tx.Chains.LockChains(ctx, schema)
	if err != nil {
		return fmt.Errorf("lock the register of chains: %w", err)
	}
	if !known {
		if err := s.refuseOldNodes(ctx, tx, job); err != nil {
			return err
		}
	}
	if err := tx.Chains.SetNext(ctx, job.ID, ids); err != nil || len(ids) == 0 {
		return err
	}
	edges := map[string][]string{}
	down, err := s.depth(ctx, job, edges, tx.Chains.EdgesFrom, func(e repository.ChainEdge) string { return e.NextID })
	if err != nil {
		return err
	}
	up, err := s.depth(ctx, job, edges, tx.Chains.EdgesTo, func(e repository.ChainEdge) string { return e.JobID })
	if err != nil {
		return err
	}
	if up+down > entity.MaxChainDepth {
		return tooDeep(job)
	}
	return s.checkNesting(ctx, tx, job)
}

func tooDeep(job *entity.Job) error {
	return apperror.InvalidField(chain.FieldOf(job), "too_deep", fmt.Sprintf(
		"jobs may start one another at most %d times in a row; shorten the chain", entity.MaxChainDepth))
}

// depth is how many jobs follow one in a row, at most, in the direction in which read and far go. It reads a step at a
// time, adds to the edges, and refuses a circle.
func (s *JobService) depth(ctx context.Context, job *entity.Job, edges map[string][]string,
	read func(ctx context.Context, ids []string) ([]repository.ChainEdge, error), far func(repository.ChainEdge) string,
) (int, error) {
	for steps, at := 0, []string{job.ID}; ; steps++ {
		found, err := read(ctx, at)
		if err != nil {
			return 0, fmt.Errorf("read the register of chains: %w", err)
		}
		at = at[:0:0]
		for _, e := range found {
			edges[e.JobID], at = append(edges[e.JobID], e.NextID), append(at, far(e))
		}
		if slices.Contains(at, job.ID) {
			return 0, s.circle(ctx, job, edges)
		}
		if len(at) == 0 {
			return steps, nil
		}
		if steps >= entity.MaxChainDepth {
			return 0, tooDeep(job)
		}
		slices.Sort(at)
		at = slices.Compact(at)
	}
}

// circle names the jobs of a circle through a job, in the order in which they start one another.
func (s *JobService) circle(ctx context.Context, job *entity.Job, edges map[string][]string) error {
	_, ids := chain.Circle([]string{job.ID}, func(id string) []string { return edges[id] })
	names, err := s.Jobs.Names(ctx, ids)
	if err != nil {
		return err
	}
	return apperror.InvalidField(chain.FieldOf(job), "circle", chain.Circular(convert.All(ids, func(id string) string {
		return cmp.Or(names[id], "this job")
	})))
}

// refuseOldNodes refuses the first edge, or the first workflow, while a node is up that runs another program: it would
// end a run and not know what that owes, or not know what a step is.
func (s *JobService) refuseOldNodes(ctx context.Context, tx repository.Tx, job *entity.Job) error {
	nodes, err := tx.Nodes.All(ctx)
	if err != nil {
		return fmt.Errorf("read the nodes: %w", err)
	}
	old := entity.OldNodes(nodes, s.Release)
	if old == "" {
		return nil
	}
	what := "next"
	if job.Type == entity.JobWorkflow {
		what = "a workflow"
	}
	return apperror.Conflict("old_nodes",
		"%s needs one release on all nodes: bring %s to %s, and try again; they would end runs and start nothing",
		what, old, s.Release)
}
