package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Hand triggers a job by hand. A call that was not answered is repeated with
// its key, until it is: the key must never make a second run. It is not safe
// for concurrent use.
type Hand struct {
	Job string
	// Triggers are those that were acknowledged; Unanswered counts keys whose
	// outcome the API calls unknown.
	Triggers   []history.Trigger
	Unanswered int

	keys    int
	pending string
}

// Press makes one call, to any node.
func (h *Hand) Press(ctx context.Context, c *Client) error {
	if h.pending == "" {
		h.keys++
		h.pending = fmt.Sprintf("key-%d", h.keys)
	}
	id, err := c.Trigger(ctx, h.Job, h.pending)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		// The server was lost while it worked on this key, and says so rather
		// than risk a second run.
		h.Unanswered++
		h.pending = ""
		return nil
	}
	if err != nil {
		return err
	}
	h.Triggers = append(h.Triggers, history.Trigger{Key: h.pending, JobID: h.Job, Execution: id})
	h.pending = ""
	return nil
}

// Settle repeats a call that was not answered until it is.
func (h *Hand) Settle(ctx context.Context, c *Client) error {
	for until := time.Now().Add(quietBound); h.pending != ""; time.Sleep(50 * time.Millisecond) {
		if err := h.Press(ctx, c); err != nil && time.Now().After(until) {
			return fmt.Errorf("the trigger %s was not answered within %s: %w", h.pending, quietBound, err)
		}
	}
	return nil
}
