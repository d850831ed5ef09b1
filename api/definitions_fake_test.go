package api_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// namedJobs reads fake jobs by name, as the store does; err comes after the
// first page.
type namedJobs struct {
	*fakeJobs
	pageSize int
	err      error
}

func (n *namedJobs) JobsByName(_ context.Context, group string, p repository.Page) ([]*entity.Job, string, error) {
	var all []*entity.Job
	for _, j := range n.jobs {
		if group == "" || j.Group == group {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *entity.Job) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name)) })
	from, _ := strconv.Atoi(p.Cursor)
	if from > 0 && n.err != nil {
		return nil, "", n.err
	}
	if n.pageSize == 0 || from+n.pageSize >= len(all) {
		return all[from:], "", nil
	}
	return all[from : from+n.pageSize], strconv.Itoa(from + n.pageSize), nil
}

func (n *namedJobs) JobsNamed(_ context.Context, names []repository.JobName) (map[repository.JobName]*entity.Job, error) {
	out := map[repository.JobName]*entity.Job{}
	for _, j := range n.jobs {
		name := repository.JobName{Group: j.Group, Name: j.Name}
		if slices.Contains(names, name) {
			copied := *j
			out[name] = &copied
		}
	}
	return out, nil
}

// oneByOne makes the fake jobs safe for the workers of an import.
type oneByOne struct{ edge *edge }

func (o oneByOne) Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	o.edge.mu.Lock()
	defer o.edge.mu.Unlock()
	j, err := o.edge.jobs.Create(ctx, job, enabled)
	if err == nil && !enabled {
		j.Status = entity.JobCreated
	}
	return j, err
}

func (o oneByOne) Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error) {
	o.edge.mu.Lock()
	defer o.edge.mu.Unlock()
	return o.edge.jobs.Replace(ctx, id, job, version, ifMatch)
}

func (o oneByOne) set(ctx context.Context, id string, status entity.JobStatus) (*entity.Job, error) {
	o.edge.mu.Lock()
	defer o.edge.mu.Unlock()
	j, err := o.edge.jobs.Get(ctx, id)
	if err == nil {
		j.Status = status
	}
	return j, err
}

func (o oneByOne) Pause(ctx context.Context, id string, _ entity.Pause) (*entity.Job, error) {
	return o.set(ctx, id, entity.JobPaused)
}

func (o oneByOne) Resume(ctx context.Context, id string) (*entity.Job, error) {
	return o.set(ctx, id, entity.JobEnabled)
}

func (o oneByOne) Delete(ctx context.Context, id string, ifMatch int) error {
	o.edge.mu.Lock()
	defer o.edge.mu.Unlock()
	return o.edge.jobs.Delete(ctx, id, ifMatch)
}

func (e *edge) definitions(groups *group.GroupService) *definition.DefinitionService {
	e.named.fakeJobs = e.jobs
	return definition.NewDefinitionService(e.named, oneByOne{e}, groups, e.secrets)
}
