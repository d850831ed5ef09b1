package calls

import (
	"context"
	"fmt"
	"net/http"
)

// definition is a job that does nothing, once a day.
func definition(name string, version int) map[string]any {
	d := map[string]any{
		"name": name, "jobType": "CUSTOM", "jobClass": callClass, "description": fmt.Sprintf("edit %d", version),
		"schedule": map[string]any{"kind": "FIXED_RATE", "intervalMs": 86_400_000},
	}
	if version > 0 {
		d["version"] = version
	}
	return d
}

// changed is what the bench reads of a job.
type changed struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// create makes a job, for later calls to change.
func (m *mix) create(ctx context.Context, _ uint64) error {
	m.mu.Lock()
	m.made++
	name := fmt.Sprintf("called %d", m.made)
	m.mu.Unlock()
	var job changed
	if err := m.client.Call(ctx, http.MethodPost, "/jobs", nil, definition(name, 0), &job); err != nil {
		return err
	}
	m.release(&target{id: job.ID, name: name, version: job.Version})
	return nil
}

func (m *mix) replace(ctx context.Context, dice uint64) error {
	t := m.acquire(dice, false)
	defer m.release(t)
	var job changed
	err := m.client.Call(ctx, http.MethodPut, "/jobs/"+t.id, nil, definition(t.name, t.version), &job)
	if err == nil {
		t.version = job.Version
	}
	return err
}

func (m *mix) pause(ctx context.Context, dice uint64) error { return m.hold(ctx, dice, "/pause", true) }

func (m *mix) resume(ctx context.Context, dice uint64) error {
	return m.hold(ctx, dice, "/resume", false)
}

func (m *mix) hold(ctx context.Context, dice uint64, suffix string, paused bool) error {
	t := m.acquire(dice, !paused)
	defer m.release(t)
	var job changed
	err := m.client.Call(ctx, http.MethodPost, "/jobs/"+t.id+suffix, nil, nil, &job)
	if err == nil {
		t.paused, t.version = paused, job.Version
	}
	return err
}

func (m *mix) trigger(ctx context.Context, dice uint64) error {
	t := m.acquire(dice, false)
	defer m.release(t)
	var answer struct {
		IDs []string `json:"executionIds"`
	}
	err := m.client.Call(ctx, http.MethodPost, "/jobs/"+t.id+"/trigger", nil, nil, &answer)
	m.mu.Lock()
	m.runs = append(m.runs, answer.IDs...)
	m.mu.Unlock()
	return err
}

// drop deletes a job; it is not given back.
func (m *mix) drop(ctx context.Context, dice uint64) error {
	return m.client.Call(ctx, http.MethodDelete, "/jobs/"+m.acquire(dice, true).id, nil, nil, nil)
}
