package api_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// fakeJobs keeps jobs in memory behind the real validation.
type fakeJobs struct {
	pause    entity.Pause
	mu       sync.Mutex
	jobs     map[string]*entity.Job
	order    []string
	err      error
	panics   any
	filter   repository.JobFilter
	page     repository.Page
	enabled  bool
	trigger  job.Trigger
	triggers int
	ifMatch  int
	preview  schedule.Spec
	from     time.Time
	count    int
	// formerData are the data of the version before, in the history; empty are those
	// of the job.
	formerData string
	// formerGroup is the group of former versions; empty is that of the job.
	formerGroup string
	// runPrefix begins the ids of triggered runs.
	runPrefix string
}

func newFakeJobs() *fakeJobs { return &fakeJobs{jobs: map[string]*entity.Job{}} }

func (f *fakeJobs) valid(job *entity.Job) error {
	if f.panics != nil {
		panic(f.panics)
	}
	if f.err != nil {
		return f.err
	}
	validation.Defaults(job, "UTC")
	return apperror.Invalid(validation.Job(job, now))
}

func (f *fakeJobs) Create(_ context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	if err := f.valid(job); err != nil {
		return nil, err
	}
	f.enabled = enabled
	j := *job
	j.ID = fmt.Sprintf("00000000-0000-7000-8000-%012d", len(f.order)+1)
	j.Version, j.CreateTime, j.UpdateTime, j.Status = 1, now, now, entity.JobEnabled
	f.jobs[j.ID] = &j
	f.order = append(f.order, j.ID)
	return &j, nil
}

func (f *fakeJobs) Get(_ context.Context, id string) (*entity.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.jobs[id]; j != nil {
		return j, nil
	}
	return nil, apperror.NotFound("job", id)
}

func (f *fakeJobs) List(_ context.Context, filter repository.JobFilter, page repository.Page) ([]*entity.Job, string, error) {
	f.filter, f.page = filter, page
	var out []*entity.Job
	for i := len(f.order) - 1; i >= 0; i-- {
		if page.Cursor != "" && f.order[i] >= page.Cursor {
			continue
		}
		if len(out) == page.Limit {
			return out, out[len(out)-1].ID, nil
		}
		out = append(out, f.jobs[f.order[i]])
	}
	return out, "", f.err
}

func (f *fakeJobs) Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error) {
	old, err := f.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := f.valid(job); err != nil {
		return nil, err
	}
	if ifMatch != 0 && ifMatch != old.Version {
		return nil, apperror.New(apperror.KindPrecondition, "version_mismatch", "stale")
	}
	if version != 0 && version != old.Version {
		return nil, apperror.Conflict("stale_version", "stale")
	}
	j := *job
	j.ID, j.Version, j.CreateTime, j.UpdateTime, j.Status = id, old.Version+1, old.CreateTime, now, old.Status
	f.jobs[id] = &j
	return &j, nil
}

func (f *fakeJobs) Pause(ctx context.Context, id string, p entity.Pause) (*entity.Job, error) {
	f.pause = p
	return f.Get(ctx, id)
}

func (f *fakeJobs) Resume(ctx context.Context, id string) (*entity.Job, error) { return f.Get(ctx, id) }

func (f *fakeJobs) Delete(ctx context.Context, id string, ifMatch int) error {
	_, err := f.Get(ctx, id)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ifMatch = ifMatch
	delete(f.jobs, id)
	return err
}

func (f *fakeJobs) Trigger(_ context.Context, _ string, t job.Trigger) ([]string, error) {
	if f.panics != nil {
		panic(f.panics)
	}
	if f.err != nil {
		return nil, f.err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trigger = t
	f.triggers++
	return []string{fmt.Sprint(f.runPrefix, "run-", f.triggers)}, nil
}

func (f *fakeJobs) History(ctx context.Context, id string, _ repository.Page) ([]*entity.Job, string, error) {
	now, err := f.Get(ctx, id)
	if err != nil {
		return nil, "", err
	}
	older := *now
	older.Version, older.Priority = now.Version-1, now.Priority+1
	if f.formerData != "" {
		older.Data = f.formerData
	}
	return []*entity.Job{now, &older}, "", nil
}

func (f *fakeJobs) Version(ctx context.Context, id string, version int) (*entity.Job, error) {
	old, err := f.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if version > old.Version {
		return nil, apperror.NotFound("version", fmt.Sprint(version))
	}
	j := *old
	j.Priority = version
	if f.formerGroup != "" {
		j.Group = f.formerGroup
	}
	return &j, nil
}

func (f *fakeJobs) GroupsOf(_ context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if j := f.jobs[id]; j != nil {
			out[id] = j.Group
		}
	}
	return out, nil
}

func (f *fakeJobs) Copy(ctx context.Context, id, name, group string) (*entity.Job, error) {
	old, err := f.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	j := *old
	j.Name, j.Group = name, group
	return f.Create(ctx, &j, false)
}

func (f *fakeJobs) NextFireTimes(_ context.Context, _ string, count int, in schedule.Language) ([]time.Time, string, error) {
	f.count = count
	return []time.Time{now, now.Add(1500 * time.Millisecond)}, "described in " + string(in), nil
}

func (f *fakeJobs) Preview(_ context.Context, spec schedule.Spec, from time.Time, count int, in schedule.Language) ([]time.Time, string, error) {
	f.preview, f.from, f.count = spec, from, count
	return nil, "described in " + string(in), nil
}

// fakeExecutions answers from its fields.
type fakeExecutions struct {
	mu           sync.Mutex
	rows         []*entity.Execution
	chunks       []entity.LogChunk
	attempts     []entity.Attempt
	letters      []entity.DeadLetter
	fires        []execution.LedgerEntry
	next         string
	err          error
	filter       repository.ExecutionFilter
	page         repository.Page
	logPage      repository.LogPage
	ledger       execution.LedgerQuery
	letterFilter repository.DeadLetterFilter
	endless      int
	retries      int
	by           entity.Actor
	names        []string
}

func (f *fakeExecutions) Get(_ context.Context, id string) (*entity.Execution, error) {
	for _, r := range f.rows {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, apperror.NotFound("execution", id)
}

func (f *fakeExecutions) List(_ context.Context, filter repository.ExecutionFilter, p repository.Page) ([]*entity.Execution, string, error) {
	f.filter, f.page = filter, p
	return f.rows, f.next, f.err
}

func (f *fakeExecutions) Attempts(context.Context, string) ([]entity.Attempt, error) {
	return f.attempts, f.err
}

func (f *fakeExecutions) Logs(_ context.Context, p repository.LogPage) ([]entity.LogChunk, error) {
	f.logPage = p
	var out []entity.LogChunk
	for _, c := range f.chunks {
		if c.SeqTo > p.AfterSeq && len(out) < p.Limit {
			out = append(out, c)
		}
	}
	return out, f.err
}

func (f *fakeExecutions) Cancel(context.Context, string) error { return f.err }

func (f *fakeExecutions) Retry(_ context.Context, _ string, by entity.Actor) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retries++
	f.by = by
	return fmt.Sprint("retry-", f.retries), f.err
}

func (f *fakeExecutions) Replay(_ context.Context, id string, by entity.Actor) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retries++
	f.by = by
	return fmt.Sprint("replay-", f.retries, "-of-", id), f.err
}

func (f *fakeExecutions) Discard(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, l := range f.letters {
		if l.ExecutionID == id {
			f.letters = append(f.letters[:i], f.letters[i+1:]...)
			return nil
		}
	}
	return apperror.NotFound("dead letter", id)
}

func (f *fakeExecutions) Names(_ context.Context, jobIDs []string) (map[string]string, error) {
	f.names = jobIDs
	names := map[string]string{}
	for _, id := range jobIDs {
		names[id] = "name of " + id
	}
	return names, f.err
}

func (f *fakeExecutions) Fires(_ context.Context, q execution.LedgerQuery) ([]execution.LedgerEntry, string, error) {
	f.ledger = q
	return f.fires, f.next, f.err
}

func (f *fakeExecutions) DeadLetters(_ context.Context, filter repository.DeadLetterFilter, p repository.Page) ([]entity.DeadLetter, string, error) {
	f.letterFilter, f.page = filter, p
	if f.endless > 0 { // each page is short of what was asked for, and there is another
		f.endless--
		id := fmt.Sprint("run-", f.endless)
		return []entity.DeadLetter{{ExecutionID: id, JobID: "job-1"}}, "more", nil
	}
	return f.letters, f.next, f.err
}

func (f *fakeExecutions) DeadLetterCauses(_ context.Context, filter repository.DeadLetterFilter) ([]repository.DeadLetterCause, error) {
	f.letterFilter = filter
	return []repository.DeadLetterCause{{JobID: "job-1", Reason: entity.ReasonExitCode, Count: 2, First: now, Latest: entity.DeadLetter{ExecutionID: "run-1", Message: "exit 3", CreateTime: now}}}, f.err
}

// GroupsOf puts runs into the group that their node id names.
func (f *fakeExecutions) GroupsOf(_ context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, r := range f.rows {
		if slices.Contains(ids, r.ID) {
			out[r.ID] = r.NodeID
		}
	}
	return out, nil
}
