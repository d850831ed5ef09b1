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
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// resolveNext puts ids in the place of the names of jobs that follow, and says which names are of nothing.
func (s *JobService) resolveNext(ctx context.Context, job *entity.Job) (wrong []apperror.Field, err error) {
	if len(job.Next) == 0 || len(job.Next) > entity.MaxNext {
		return nil, nil
	}
	job.Next = slices.Clone(job.Next) // the caller's stays as it is
	var names []repository.JobName
	var ids []string
	for _, n := range job.Next {
		if n.Job == "" {
			names = append(names, repository.ReadJobName(job.Group, n.Name))
		} else {
			ids = append(ids, n.Job)
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
	for i := range job.Next {
		n := &job.Next[i]
		name, remedy := repository.ReadJobName(job.Group, n.Name), ""
		if n.Job != "" {
			if _, known := there[n.Job]; !known {
				remedy = fmt.Sprintf("the job %s was deleted; take it out", validation.Text(n.Name, 2*validation.MaxName))
			}
		} else if found := named[name]; found != nil {
			n.Job, n.Name = found.ID, name.String()
		} else {
			remedy = fmt.Sprintf("there is no job %q in the group %s; make it first, or write group/name",
				validation.Text(name.Name, validation.MaxName), validation.Text(name.Group, validation.MaxGroup))
		}
		if remedy != "" {
			wrong = append(wrong, apperror.Field{
				Field: fmt.Sprintf("next[%d].job", i), Code: "unknown_job", Message: remedy,
			})
		}
	}
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

// NameNext fills in the present names of jobs that follow others. A deleted job has none.
func (s *JobService) NameNext(ctx context.Context, jobs ...*entity.Job) error {
	ids := map[string]bool{}
	for _, job := range jobs {
		for _, n := range job.Next {
			ids[n.Job] = true
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
	for _, job := range jobs {
		job.Next = slices.Clone(job.Next)
		for i := range job.Next {
			n := &job.Next[i]
			if n.Name = ""; there[n.Job] != 0 {
				n.Name = titles[n.Job].String()
			}
		}
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

// nextIDs are the jobs that follow, each once and in order.
func nextIDs(job *entity.Job) []string {
	ids := make([]string, 0, len(job.Next))
	for _, n := range job.Next {
		ids = append(ids, n.Job)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// registerNext keeps the register of who starts whom, in the transaction that stores the job. It refuses circles and
// chains that are too deep, and the first edge of all while a node is up that would not follow it.
func (s *JobService) registerNext(ctx context.Context, tx repository.Tx, former, job *entity.Job) error {
	ids := nextIDs(job)
	if former != nil && slices.Equal(nextIDs(former), ids) || former == nil && len(ids) == 0 {
		return nil
	}
	known, err := tx.Chains.LockChains(ctx)
	if err != nil {
		return fmt.Errorf("lock the register of chains: %w", err)
	}
	if !known {
		if err := s.refuseOldNodes(ctx, tx); err != nil {
			return err
		}
	}
	if err := tx.Chains.SetNext(ctx, job.ID, ids); err != nil || len(ids) == 0 {
		return err
	}
	edges := map[string][]string{}
	down, err := s.depth(ctx, job.ID, edges, tx.Chains.EdgesFrom, func(e repository.ChainEdge) string { return e.NextID })
	if err != nil {
		return err
	}
	up, err := s.depth(ctx, job.ID, edges, tx.Chains.EdgesTo, func(e repository.ChainEdge) string { return e.JobID })
	if err != nil {
		return err
	}
	if up+down > entity.MaxChainDepth {
		return tooDeep()
	}
	return nil
}

func tooDeep() error {
	return apperror.InvalidField("next", "too_deep", fmt.Sprintf(
		"jobs may start one another at most %d times in a row; shorten the chain", entity.MaxChainDepth))
}

// depth is how many jobs follow one in a row, at most, in the direction in which read and far go. It reads a step at a
// time, adds to the edges, and refuses a circle.
func (s *JobService) depth(ctx context.Context, id string, edges map[string][]string,
	read func(ctx context.Context, ids []string) ([]repository.ChainEdge, error), far func(repository.ChainEdge) string,
) (int, error) {
	for steps, at := 0, []string{id}; ; steps++ {
		found, err := read(ctx, at)
		if err != nil {
			return 0, fmt.Errorf("read the register of chains: %w", err)
		}
		at = at[:0:0]
		for _, e := range found {
			edges[e.JobID], at = append(edges[e.JobID], e.NextID), append(at, far(e))
		}
		if slices.Contains(at, id) {
			return 0, s.circle(ctx, id, edges)
		}
		if len(at) == 0 {
			return steps, nil
		}
		if steps >= entity.MaxChainDepth {
			return 0, tooDeep()
		}
		slices.Sort(at)
		at = slices.Compact(at)
	}
}

// circle names the jobs of a circle through a job, in the order in which they start one another.
func (s *JobService) circle(ctx context.Context, id string, edges map[string][]string) error {
	_, ids := chain.Circle([]string{id}, func(id string) []string { return edges[id] })
	names, err := s.Jobs.Names(ctx, ids)
	if err != nil {
		return err
	}
	return apperror.InvalidField("next", "circle", chain.Circular(convert.All(ids, func(id string) string {
		return cmp.Or(names[id], "this job")
	})))
}

// refuseOldNodes refuses the first edge while a node is up that runs another program: it would end a run and not know
// what that owes.
func (s *JobService) refuseOldNodes(ctx context.Context, tx repository.Tx) error {
	nodes, err := tx.Nodes.All(ctx)
	if err != nil {
		return fmt.Errorf("read the nodes: %w", err)
	}
	old := entity.OldNodes(nodes, s.Release)
	if old == "" {
		return nil
	}
	return apperror.Conflict("old_nodes",
		"next needs one release on all nodes: bring %s to %s, and try again; they would end runs and start nothing",
		old, s.Release)
}
