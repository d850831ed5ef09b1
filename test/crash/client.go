package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Client calls the REST API and knows nothing else of the product.
type Client struct {
	Base  string
	token string
}

// StatusError is an answer that is no success.
type StatusError struct {
	Status int
	Detail string
}

// Error implements error.
func (e *StatusError) Error() string { return e.Detail }

// callTimeout bounds one call.
const callTimeout = 10 * time.Second

// Call sends one request whose answer does not matter.
func (c *Client) Call(ctx context.Context, method, path string, body any) error {
	return c.call(ctx, method, path, "", body, nil)
}

// Ask sends one request and reads its answer.
func (c *Client) Ask(ctx context.Context, method, path string, body, answer any) error {
	return c.call(ctx, method, path, "", body, answer)
}

// call sends one request; a status over 299 is an error.
func (c *Client) call(ctx context.Context, method, path, key string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var payload io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, payload)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode > 299 {
		return &StatusError{Status: res.StatusCode, Detail: fmt.Sprintf("%s %s: %d %s", method, path, res.StatusCode, raw)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(raw, answer)
}

// Login signs in.
func (c *Client) Login(ctx context.Context, password string) error {
	return c.login(ctx, "admin", password)
}

func (c *Client) login(ctx context.Context, name, password string) error {
	var answer struct{ Token string }
	err := c.call(ctx, http.MethodPost, "/api/v1/auth/login", "",
		map[string]string{"username": name, "password": password}, &answer)
	c.token = answer.Token
	return err
}

// JobView is what the driver needs of a job.
type JobView struct {
	ID           string
	CreateTime   time.Time
	UpdateTime   time.Time
	NextFireTime *time.Time
}

// Create adds a job.
func (c *Client) Create(ctx context.Context, definition map[string]any) (v JobView, err error) {
	return v, c.call(ctx, http.MethodPost, "/api/v1/jobs", "", definition, &v)
}

// CreateGroup adds a group that bounds how many fires of its jobs run at once.
func (c *Client) CreateGroup(ctx context.Context, name string, maxConcurrency int) error {
	return c.call(ctx, http.MethodPost, "/api/v1/groups", "",
		map[string]any{"name": name, "maxConcurrency": maxConcurrency}, nil)
}

// CreateWorkerGroup adds a worker group for jobs of the group default, and returns a token of it.
func (c *Client) CreateWorkerGroup(ctx context.Context, name string) (token string, err error) {
	path := "/api/v1/worker-groups/" + name
	if err := c.call(ctx, http.MethodPut, path, "", map[string]any{"jobGroups": []string{"default"}}, nil); err != nil {
		return "", err
	}
	var made struct{ Token string }
	return made.Token, c.call(ctx, http.MethodPost, path+"/tokens", "",
		map[string]any{"name": "test", "expiresAt": time.Now().Add(24 * time.Hour)}, &made)
}

// Workers are the ids of workers that are UP, by instance.
func (c *Client) Workers(ctx context.Context) (map[string]string, error) {
	var page struct {
		Items []struct{ ID, Instance, Status string }
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/workers?limit=200", "", nil, &page); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, item := range page.Items {
		if item.Status == "UP" {
			ids[item.Instance] = item.ID
		}
	}
	return ids, nil
}

// Pause stops the planning of a job and returns its state.
func (c *Client) Pause(ctx context.Context, id string) (v JobView, err error) {
	return v, c.call(ctx, http.MethodPost, "/api/v1/jobs/"+id+"/pause", "", nil, &v)
}

// TriggerAll runs a job of some shards by hand, as Trigger does.
func (c *Client) TriggerAll(ctx context.Context, id, key string) ([]string, error) {
	var answer struct {
		IDs []string `json:"executionIds"`
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/jobs/"+id+"/trigger", key, map[string]any{}, &answer)
	return answer.IDs, err
}

// Trigger runs a job by hand; the same key never makes a second run.
func (c *Client) Trigger(ctx context.Context, id, key string) (execution string, err error) {
	ids, err := c.TriggerAll(ctx, id, key)
	if err == nil && len(ids) != 1 {
		err = fmt.Errorf("the trigger made %d runs", len(ids))
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// Execution reads one execution.
func (c *Client) Execution(ctx context.Context, id string) (row history.Row, err error) {
	return row, c.call(ctx, http.MethodGet, "/api/v1/executions/"+id, "", nil, &row)
}

// Live reads the newest runs that wait, and the newest that run: by id and status.
func (c *Client) Live(ctx context.Context) (live []string, err error) {
	for _, status := range []string{"WAITING", "RUNNING"} {
		var page struct{ Items []history.Row }
		if err := c.call(ctx, http.MethodGet, "/api/v1/executions?limit=200&status="+status, "", nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			live = append(live, r.ID+" "+status)
		}
	}
	return live, nil
}

// Latest reads the newest executions, of all jobs.
func (c *Client) Latest(ctx context.Context) ([]history.Row, error) {
	var page struct{ Items []history.Row }
	err := c.call(ctx, http.MethodGet, "/api/v1/executions?limit=200", "", nil, &page)
	return page.Items, err
}

// Attempts reads the attempts of a run that have ended.
func (c *Client) Attempts(ctx context.Context, id string) ([]history.Attempt, error) {
	var page struct{ Items []history.Attempt }
	err := c.call(ctx, http.MethodGet, "/api/v1/executions/"+id+"/attempts", "", nil, &page)
	return page.Items, err
}

// Output reads the first lines that a run has put out.
func (c *Client) Output(ctx context.Context, id string) ([]history.Line, error) {
	var page struct{ Items []history.Line }
	err := c.call(ctx, http.MethodGet, "/api/v1/executions/"+id+"/logs?limit=100", "", nil, &page)
	return page.Items, err
}

// Members reads the registry.
func (c *Client) Members(ctx context.Context) ([]history.Member, error) {
	var page struct{ Items []history.Member }
	err := c.call(ctx, http.MethodGet, "/api/v1/nodes", "", nil, &page)
	return page.Items, err
}

// At is a client of another node with the same session.
func (c *Client) At(base string) *Client { return &Client{Base: base, token: c.token} }

// Delete deletes a job; one that is gone already is deleted, too.
func (c *Client) Delete(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, "/api/v1/jobs/"+id, "", nil, nil)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// GroupView is what the driver needs of a group.
type GroupView struct {
	MaxConcurrency int
	Version        int64
	Settled        bool
}

// Group reads a group.
func (c *Client) Group(ctx context.Context, name string) (v GroupView, err error) {
	return v, c.call(ctx, http.MethodGet, "/api/v1/groups/"+url.PathEscape(name), "", nil, &v)
}

// LimitGroup bounds a group whose version is known.
func (c *Client) LimitGroup(ctx context.Context, name string, most int, version int64) (v GroupView, err error) {
	return v, c.call(ctx, http.MethodPut, "/api/v1/groups/"+url.PathEscape(name), "",
		map[string]any{"maxConcurrency": most, "version": version}, &v)
}

// Cancel asks a run to end.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/api/v1/executions/"+id+"/cancel", "", nil, nil)
}

// Executions reads all executions of a job.
func (c *Client) Executions(ctx context.Context, job string) ([]history.Row, error) {
	var rows []history.Row
	cursor := ""
	for {
		var page struct {
			Items      []history.Row
			NextCursor *string
		}
		path := "/api/v1/executions?limit=200&jobId=" + job
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		if err := c.call(ctx, http.MethodGet, path, "", nil, &page); err != nil {
			return nil, err
		}
		rows = append(rows, page.Items...)
		if page.NextCursor == nil {
			return rows, nil
		}
		cursor = *page.NextCursor
	}
}

// Job reads a job.
func (c *Client) Job(ctx context.Context, id string) (v JobView, err error) {
	return v, c.call(ctx, http.MethodGet, "/api/v1/jobs/"+id, "", nil, &v)
}

// Statistics are those of a job over the last day, or of all jobs where it is empty, and
// up to when ends are counted.
func (c *Client) Statistics(ctx context.Context, job string) (s history.Statistic, asOf time.Time, err error) {
	var answer struct {
		AsOf  time.Time
		Total history.Statistic
	}
	path := "/api/v1/monitor/statistics"
	if job != "" {
		path += "?job=" + url.QueryEscape(job)
	}
	err = c.call(ctx, http.MethodGet, path, "", nil, &answer)
	answer.Total.JobID = job
	return answer.Total, answer.AsOf, err
}
