package workflowrun

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// keysAtOnce is how many executions one statement looks for, and keysInPage how many a page looks for at most.
	keysAtOnce = 500
	keysInPage = 10_000
	// pastShards ends the cursor behind all shards of a key.
	pastShards = 1 << 20
)

// StepFilter narrows the executions of a run; empty fields do not filter.
type StepFilter struct {
	// Step is the name of a step, or the key of an item, of which all generations are meant.
	Step   string
	Status entity.Status
}

// StepExecution is an execution of a step.
type StepExecution struct {
	Key wf.Key
	*entity.Execution
}

// StepExecutions is a page of the executions of a run: its steps in the order of the definition, of each the
// generations, and behind the step itself its items. Ids are computed, so that no index is asked.
func (s *Service) StepExecutions(ctx context.Context, id string, f StepFilter, p repository.Page) (
	[]StepExecution, string, error,
) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if l.flow == nil || l.state == nil {
		return nil, "", nil
	}
	walk := &walk{look: l}
	if err := walk.narrow(f.Step); err != nil {
		return nil, "", err
	}
	if err := walk.resume(p.Cursor); err != nil {
		return nil, "", err
	}
	var out []StepExecution
	limit := cmp.Or(p.Limit, keysAtOnce)
	for looked := 0; looked < keysInPage; looked += keysAtOnce {
		places := walk.take(keysAtOnce)
		if len(places) == 0 {
			return out, "", nil
		}
		found, err := s.at(ctx, l, places)
		if err != nil {
			return nil, "", err
		}
		for _, e := range found {
			if !walk.passed(e) && (f.Status == "" || e.Status == f.Status) {
				out = append(out, e)
			}
		}
		if len(out) > limit {
			last := out[limit-1]
			return out[:limit], cursor(last.Key, last.ShardIndex), nil
		}
		walk.skip = pastShards
		walk.after = places[len(places)-1].key
	}
	return out, cursor(walk.after, pastShards), nil
}

// at are the executions at some places, all shards of each.
func (s *Service) at(ctx context.Context, l *look, places []place) ([]StepExecution, error) {
	of := convert.All(places, func(p place) []string { return l.executions(p.step, p.key) })
	rows, err := s.Executions.Standings(ctx, slices.Concat(of...))
	if err != nil {
		return nil, err
	}
	byID := entity.ByID(rows)
	var out []StepExecution
	for i, p := range places {
		for _, id := range of[i] {
			row := byID[id]
			if row == nil {
				continue
			}
			shards := []*entity.Execution{row}
			if row.ShardTotal > 1 {
				if shards, err = s.Executions.OfFire(ctx, row.JobID, row.FireKey); err != nil {
					return nil, err
				}
				slices.SortFunc(shards, func(a, b *entity.Execution) int { return cmp.Compare(a.ShardIndex, b.ShardIndex) })
			}
			for _, shard := range shards {
				out = append(out, StepExecution{p.key, shard})
			}
		}
	}
	return out, nil
}

// place is a key that an execution may have, with the position of its step.
type place struct {
	step int
	key  wf.Key
}

// walk goes over the places of a run.
type walk struct {
	*look
	// only narrows to a step, and item to one of its items.
	only *int
	item int
	next place
	// after and skip are the key and the shard at which the page begins anew.
	after wf.Key
	skip  int
}

// narrow keeps one step, or one item.
func (w *walk) narrow(step string) error {
	w.item, w.skip = wf.Whole, -1
	w.next = place{0, wf.Key{Item: wf.Whole, Generation: 1}}
	if step == "" {
		return nil
	}
	key, err := wf.ParseKey(step)
	if err != nil {
		return apperror.InvalidField("step", "invalid", err.Error())
	}
	i, known := w.flow.Graph.Step(key.Name)
	if !known {
		return w.flow.Graph.NoStepIn("step", key.Name)
	}
	w.only, w.item, w.next.step = &i, key.Item, i
	return nil
}

// resume begins at the place of a cursor, of which some shards may follow.
func (w *walk) resume(text string) error {
	if text == "" {
		return nil
	}
	read, err := repository.ReadCursor(text)
	keyText, shard, _ := strings.Cut(read, " ")
	key, wrong := wf.ParseKey(keyText)
	i, known := w.flow.Graph.Step(key.Name)
	n, number := strconv.Atoi(shard)
	if err != nil || wrong != nil || !known || number != nil || w.only != nil && *w.only != i {
		return apperror.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
	}
	w.next, w.after, w.skip = place{i, key}, key, n
	return nil
}

func cursor(key wf.Key, shard int) string {
	return repository.WriteCursor(key.String() + " " + strconv.Itoa(shard))
}

// passed reports whether a former page had the execution.
func (w *walk) passed(e StepExecution) bool { return e.Key == w.after && e.ShardIndex <= w.skip }

// take gives the next places, at most n.
func (w *walk) take(n int) (places []place) {
	def := w.flow.Graph.Definition()
	for w.next.step < len(def.Steps) && len(places) < n {
		i := w.next.step
		if w.only != nil && i != *w.only {
			break
		}
		at := w.next
		at.key.Name = def.Steps[i].Name
		if w.item == wf.Whole || at.key.Item == w.item {
			places = append(places, at)
		}
		switch {
		case at.key.Item+1 < w.items(i):
			w.next.key.Item++
		case at.key.Generation < w.state.Steps[i].Generation:
			w.next.key.Item, w.next.key.Generation = wf.Whole, at.key.Generation+1
		default:
			w.next = place{i + 1, wf.Key{Item: wf.Whole, Generation: 1}}
		}
	}
	return places
}

// items is how many a step may have. Of a map that a person skipped or called a success nobody knows it any more.
func (w *walk) items(i int) int {
	each, state := w.flow.Graph.Definition().Steps[i].ForEach, &w.state.Steps[i]
	switch {
	case state.Items != nil:
		return state.Items.Total
	case each != nil && state.Generation > 1:
		return each.Most()
	}
	return 0
}

// StepJobs are the jobs that executions of a run's steps may be of; none where the run is not known.
func (s *Service) StepJobs(ctx context.Context, runID string) ([]string, error) {
	l, err := s.look(ctx, runID)
	if apperror.Is(err, apperror.KindNotFound) || err == nil && l.flow == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var jobs []string
	for i, step := range l.flow.Graph.Definition().Steps {
		jobs = append(jobs, wf.StepID(l.WorkflowID, step.Name))
		if job := l.jobOf(i); job != jobs[len(jobs)-1] {
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}
