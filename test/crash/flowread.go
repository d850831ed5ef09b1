package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// pages calls a function with each item of a list.
func pages[T any](ctx context.Context, c *Client, path string, do func(T)) error {
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor *string
		}
		at := path
		if cursor != "" {
			at += "&cursor=" + url.QueryEscape(cursor)
		}
		if err := c.call(ctx, http.MethodGet, at, "", nil, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			do(item)
		}
		if page.NextCursor == nil {
			return nil
		}
		cursor = *page.NextCursor
	}
}

// flowsOf are the workflows of a workload as the judge knows them.
func flowsOf(target string, size Size, jobs []history.Job) (found []judge.Flow, err error) {
	ids := map[string]history.Job{}
	for _, j := range jobs {
		ids[j.Name] = j
	}
	for _, d := range flows(target, size) {
		if d.body["jobType"] != "WORKFLOW" {
			continue
		}
		f, err := flowOf(ids[d.job.Name].ID, d)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	for _, j := range jobs {
		if j.Passing {
			job, body := Passing(target, j.Name)
			f, err := flowOf(j.ID, definition{job, body})
			if err != nil {
				return nil, err
			}
			f.Deleted = true
			found = append(found, f)
		}
	}
	return found, nil
}

// flowOf is a workflow as the judge knows it.
func flowOf(id string, d definition) (judge.Flow, error) {
	f := judge.Flow{ID: id, Name: d.job.Name, Definition: &wf.Definition{}, Whens: map[string]judge.When{}}
	text, err := json.Marshal(d.body["jobData"])
	if err == nil {
		err = json.Unmarshal(text, f.Definition)
	}
	if err != nil {
		return f, fmt.Errorf("the workflow %q: %w", f.Name, err)
	}
	_, f.TimesOut = d.body["timeoutSec"]
	f.OneAtATime, f.Replaces = d.job.OneAtATime, d.body["overlapPolicy"] == "REPLACE"
	for _, s := range f.Definition.Steps {
		if s.When != "" {
			of, _, _ := strings.Cut(strings.TrimPrefix(s.When, "steps."), ".")
			f.Whens[s.Name] = judge.When{Step: of, Above: 3}
		}
	}
	return f, nil
}

// ReadFlows reads all workflow runs through the API, once nothing is live. roots are the executions of their workflows.
func ReadFlows(ctx context.Context, c *Client, s *Steerer, h history.History) (e judge.Evidence, err error) {
	if e.Flows, err = flowsOf(s.url, s.size, h.Jobs); err != nil {
		return e, err
	}
	e.Calls = h.Calls
	e.Asks, e.Votes, e.Edits = s.Asked()
	for _, j := range h.Jobs {
		if j.Passing && !j.Deleted.IsZero() {
			e.Deletes++
		}
	}
	roots := map[string]history.Row{}
	for _, r := range h.Rows {
		roots[r.ID] = r
		if r.JobID == s.ids[flowAfter] {
			e.After = append(e.After, r)
		}
	}
	for _, f := range e.Flows {
		err := pages(ctx, c, "/api/v1/workflow-runs?limit=200&workflowId="+f.ID, func(v flowView) {
			e.Runs = append(e.Runs, judge.Run{
				ID: v.ID, Flow: f.ID, Version: v.Version, Phase: v.Phase, Problem: v.Problem, Root: roots[v.ID],
			})
		})
		if err != nil {
			return e, fmt.Errorf("read the runs of %q: %w", f.Name, err)
		}
	}
	if err := readSteps(ctx, c, e.Runs); err != nil {
		return e, err
	}
	err = pages(ctx, c, "/api/v1/approvals?limit=200", func(b ballotView) { e.Ballots = append(e.Ballots, b) })
	return e, err
}

// readers is how many runs are read at once.
const readers = 4

// readSteps reads the executions of all runs.
func readSteps(ctx context.Context, c *Client, runs []judge.Run) error {
	var next atomic.Int64
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for n := range readers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runs) && errs[n] == nil; i = int(next.Add(1)) - 1 {
				run := &runs[i]
				err := pages(ctx, c, "/api/v1/executions?limit=200&runId="+run.ID, func(r history.Row) {
					run.Steps = append(run.Steps, r)
				})
				if err != nil {
					errs[n] = fmt.Errorf("read the steps of %s: %w", run.ID, err)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
