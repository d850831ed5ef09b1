package runs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// Waiting is what a command that starts runs does after it.
type Waiting struct{ wait, timestamps bool }

// Flags adds --wait to a command.
func (w *Waiting) Flags(c *cobra.Command) {
	c.Flags().BoolVarP(&w.wait, "wait", "w", false, "follow the run to its end; the exit code is 1 unless it succeeds")
	c.Flags().BoolVarP(&w.timestamps, "timestamps", "t", false, "with --wait, begin each line of the log with its time")
}

// Asked reports whether any of the flags was given.
func (w *Waiting) Asked() bool { return w.wait || w.timestamps }

// Start makes a call that starts runs, prints their ids or, with --wait, what
// becomes of them.
func (w *Waiting) Start(s *remote.Session, c *cobra.Command, path string, body any) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := api.Call(c.Context(), "POST", path, nil, body, &answer); err != nil {
		return err
	}
	var made struct {
		ExecutionIDs []string `json:"executionIds"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	switch {
	case w.wait:
		return w.follow(s, c, api, made.ExecutionIDs)
	case !s.ForPeople():
		return s.Raw(answer)
	}
	for _, id := range made.ExecutionIDs {
		if err := s.Line("%s", id); err != nil {
			return err
		}
	}
	return nil
}

// follow prints the log of one run after the other, shards of a fire, until all
// have ended. For programs it prints the runs as they ended.
func (w *Waiting) follow(s *remote.Session, c *cobra.Command, api *client.Client, ids []string) error {
	if !s.ForPeople() {
		return awaitAll(s, c, api, ids)
	}
	if len(ids) == 1 {
		s.Notef("%s", ids[0])
		return follow(s, c, api, ids[0], w.timestamps)
	}
	failed := 0
	for i, id := range ids {
		s.Notef("--- shard %d/%d: %s ---", i+1, len(ids), id)
		if err := follow(s, c, api, id, w.timestamps); err != nil {
			s.Notef("%v", err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d shards did not succeed", failed, len(ids))
	}
	return nil
}

// awaitAll prints runs as the API answers them when the last one has ended.
func awaitAll(s *remote.Session, c *cobra.Command, api *client.Client, ids []string) error {
	var ended []json.RawMessage
	var wrong error
	for _, id := range ids {
		f := &follower{lineWriter: lineWriter{Session: s}, api: api, path: "/executions/" + remote.Segment(id), silent: true}
		if err := f.toTheEnd(c.Context()); err != nil {
			return err
		}
		var raw json.RawMessage
		if err := f.persist(c.Context(), func() error {
			return api.Call(c.Context(), "GET", f.path, nil, nil, &raw)
		}); err != nil {
			return err
		}
		var e execution
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.Status != succeeded {
			wrong = errors.Join(wrong, fmt.Errorf("the run %s ended as %s", id, e.outcome()))
		}
		ended = append(ended, raw)
	}
	return errors.Join(output.Items(&s.Printer, ended), wrong)
}
