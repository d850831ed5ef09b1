package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/maximal"
)

// Maximal stores jobs at the edge of what validation takes, and runs some of them. A call that was not answered is made
// again, with another name. It is not safe for concurrent use.
type Maximal struct {
	// Target is where the jobs call.
	Target string
	// WideEach is how many are run for each that has hundreds of shards, so that all are a small part of the load;
	// 0: none has.
	WideEach int
	// Stored counts, by field, how often a maximal value was stored and came back as it was; Jobs are those that were
	// run, Rows how many rows that made.
	Stored     map[string]int
	Jobs       []history.Job
	Triggers   []history.Trigger
	Unanswered int
	Rows       int
	// Refused is the first definition that validation did not take.
	Refused error

	number int
	// prepared are the groups and channels that there are, by their names.
	prepared map[string]bool
	ready    bool
	// routed waits to be deleted.
	routed string
	// fired waits for its trigger to be answered.
	fired *history.Job
}

// MessagesPath is where the target takes messages of channels, and notes nothing.
const MessagesPath = "/messages"

// Press stores two definitions, and fires one of them: a job with labels for its nodes would find none. A call that
// fails ends it, and the next one goes on from there.
func (m *Maximal) Press(ctx context.Context, c *Client) error {
	if !m.ready {
		if err := m.prepare(ctx, c); err != nil {
			return err
		}
	}
	if m.fired == nil && m.routed == "" {
		id, _, err := m.store(ctx, c, true)
		if err != nil {
			return err
		}
		m.routed = id
	}
	if m.fired == nil {
		id, shards, err := m.store(ctx, c, false)
		if err != nil {
			return err
		}
		m.fired = &history.Job{ID: id, Name: fmt.Sprintf("maximal %d", m.number), Shards: shards, Called: true}
	}
	if m.routed != "" {
		if err := gone(c.Delete(ctx, m.routed)); err != nil {
			return err
		}
		m.routed = ""
	}
	return m.fire(ctx, c)
}

// gone passes over the answer that it is not there any more.
func gone(err error) error {
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// Busy reports whether a Press has ended before its end.
func (m *Maximal) Busy() bool {
	return m.fired != nil || m.routed != "" || m.prepared != nil && !m.ready
}

// Settle makes the trigger that was not answered again, until it is.
func (m *Maximal) Settle(ctx context.Context, c *Client) error {
	for until := time.Now().Add(quietBound); m.fired != nil; time.Sleep(50 * time.Millisecond) {
		if err := m.fire(ctx, c); err != nil && time.Now().After(until) {
			return fmt.Errorf("the trigger of %q was not answered within %s: %w", m.fired.Name, quietBound, err)
		}
	}
	return nil
}

// Add puts what was done into a history, but the rows.
func (m *Maximal) Add(h *history.History) {
	h.Triggers = append(h.Triggers, m.Triggers...)
	h.Unanswered += m.Unanswered
}

// Share is which part of so many rows is theirs, in percent.
func (m *Maximal) Share(rows int) float64 { return 100 * float64(m.Rows) / float64(max(rows, 1)) }

// Line shows how often each field was stored, and which part of so many rows the fired ones are.
func (m *Maximal) Line(rows int) string {
	var parts []string
	for _, f := range maximal.Fields() {
		parts = append(parts, fmt.Sprintf("%s %d", f, m.Stored[f]))
	}
	return fmt.Sprintf("maximal definitions stored, by field: %s; %d of them fired, which is %.1f %% of all rows\n",
		strings.Join(parts, ", "), len(m.Jobs), m.Share(rows))
}

func (m *Maximal) fire(ctx context.Context, c *Client) error {
	ids, err := c.TriggerAll(ctx, m.fired.ID, fmt.Sprintf("maximal-%d", m.number))
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict { // the API calls its outcome unknown
		m.Unanswered += m.fired.Shards
		err = nil
	}
	if err != nil {
		return err
	}
	for i, id := range ids {
		m.Triggers = append(m.Triggers, history.Trigger{
			Key: fmt.Sprintf("%s, shard %d", m.fired.Name, i), JobID: m.fired.ID, Execution: id,
		})
	}
	m.Rows += m.fired.Shards
	m.Jobs, m.fired = append(m.Jobs, *m.fired), nil
	return nil
}

// prepare makes the groups and channels that maximal definitions name. An unanswered call may have made them already.
func (m *Maximal) prepare(ctx context.Context, c *Client) error {
	if m.prepared == nil {
		m.prepared, m.Stored = map[string]bool{}, map[string]int{}
	}
	once := func(name string, create func() error) error {
		if m.prepared[name] {
			return nil
		}
		err := taken(create())
		m.prepared[name] = err == nil
		return err
	}
	for n := range len(maximal.Scripts()) {
		var j entity.Job
		maximal.Job(&j, n)
		if err := once("group "+j.Group, func() error { return c.CreateGroup(ctx, j.Group, 0) }); err != nil {
			return err
		}
		for _, name := range j.Alerts.OnFailure {
			err := once("channel "+name, func() error {
				return c.call(ctx, http.MethodPost, "/api/v1/alert-channels", "", map[string]any{
					"name": name, "type": "WEBHOOK", "config": map[string]any{"url": m.Target + MessagesPath},
				}, nil)
			})
			if err != nil {
				return err
			}
		}
	}
	m.ready = true
	return nil
}

// taken passes over the answer that something of that name is there.
func taken(err error) error {
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// store creates one job and reads it back.
func (m *Maximal) store(ctx context.Context, c *Client, routed bool) (id string, shards int, err error) {
	m.number++
	var j entity.Job
	maximal.Job(&j, m.number)
	wide, turn := maximal.Shards(), len(m.Jobs)
	j.ShardCount = wide[turn%2]
	if m.WideEach > 0 && turn%m.WideEach == m.WideEach-1 {
		j.ShardCount = wide[2+turn/m.WideEach%2]
	}
	body := map[string]any{
		"name": j.Name, "description": j.Description, "group": j.Group, "owner": j.Owner, "jobType": "HTTP",
		"jobClass": j.Class, "jobData": m.data(turn%4 == 0), "labels": j.Labels, "alerts": j.Alerts,
		"shardCount": j.ShardCount,
		"schedule":   map[string]any{"kind": "NONE"},
	}
	if routed {
		body["routing"] = map[string]any{"strategy": entity.RouteAny, "labels": j.Routing.Labels}
	}
	view, err := c.Create(ctx, body)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		m.Refused = cmp.Or(m.Refused, err)
	}
	if err != nil {
		return "", 0, err
	}
	var stored map[string]any
	if err := c.call(ctx, http.MethodGet, "/api/v1/jobs/"+view.ID, "", nil, &stored); err != nil {
		return "", 0, err
	}
	sent, err := plain(body)
	if err != nil {
		return "", 0, err
	}
	for _, field := range maximal.Fields() {
		if want := at(sent, field); want != nil && holds(at(stored, field), want) {
			m.Stored[field]++
		}
	}
	return view.ID, j.ShardCount, nil
}

// data is a call of the most bytes; one that fails raises an alert that has the labels of its job.
func (m *Maximal) data(fails bool) map[string]any {
	data := map[string]any{"method": "POST", "url": m.Target + "/?ms=5", "body": ""}
	if fails {
		data["url"] = m.Target + "/?ms=5&fail=99"
	}
	raw, _ := json.Marshal(data) // texts always marshal
	data["body"] = strings.Repeat("x", bounds.DataBytes-len(raw))
	return data
}

// plain is a value as it comes out of JSON.
func plain(v any) (out map[string]any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(raw, &out)
}

// holds reports whether a value is as it was wanted; an object may have more.
func holds(got, want any) bool {
	object, is := want.(map[string]any)
	if !is {
		return reflect.DeepEqual(got, want)
	}
	has, _ := got.(map[string]any)
	for name, value := range object {
		if !holds(has[name], value) {
			return false
		}
	}
	return true
}

// at is the value of a field such as routing.labels.
func at(of map[string]any, field string) any {
	path := strings.Split(field, ".")
	for _, name := range path[:len(path)-1] {
		of, _ = of[name].(map[string]any)
	}
	return of[path[len(path)-1]]
}
