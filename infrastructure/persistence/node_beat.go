package persistence

import (
	"context"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// now is the store's clock inside a statement.
func (c *conn) now() (sql string, args []any) {
	if c.d.lite() {
		return "?", []any{text(c.clock.Now())}
	}
	return "UTC_TIMESTAMP(3)", nil
}

// Heartbeat implements repository.Nodes.
func (r *Nodes) Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error) {
	err = r.s.change(ctx, repository.LaneComplete, "node-heartbeat", func(ctx context.Context, c *conn) error {
		now, at := c.now()
		args := append(at, strings.Join(n.Roles, ","), n.Slots, n.Running, n.CPU, n.Memory, n.ClockOffset.Milliseconds())
		args = append(append(args, at...), n.ID, n.Epoch)
		found, err := c.exec(ctx, "node.heartbeat", "UPDATE scheduler_node_registry SET last_heartbeat = "+now+
			", roles = ?, slots = ?, running = ?, cpu = ?, memory = ?, clock_offset = ?, update_time = "+now+
			", status = CASE WHEN status = 'SUSPECT' THEN 'UP' ELSE status END WHERE id = ? AND epoch = ? AND status <> 'DOWN'", args...)
		ok = found == 1
		return err
	})
	return ok && err == nil, err
}

// Mark implements repository.Nodes.
func (r *Nodes) Mark(ctx context.Context, n entity.Node, status entity.NodeStatus) (ok bool, err error) {
	err = r.s.change(ctx, repository.LaneComplete, "node-mark", func(ctx context.Context, c *conn) error {
		found, err := c.exec(ctx, "node.mark", "UPDATE scheduler_node_registry SET status = ? WHERE id = ? AND epoch = ? AND last_heartbeat = ? AND status <> ?",
			string(status), n.ID, n.Epoch, text(n.LastHeartbeat), string(status))
		ok = found == 1
		return err
	})
	return ok && err == nil, err
}

// Drain implements repository.Nodes.
func (r *Nodes) Drain(ctx context.Context, id string, draining bool) error {
	if !plain(id) {
		return fault.NotFound("node", id)
	}
	return r.s.change(ctx, repository.LaneAPI, "node-drain", func(ctx context.Context, c *conn) error {
		found, err := collect(ctx, c, "node.status", "SELECT status FROM scheduler_node_registry WHERE id = ?"+c.d.forUpdate, []any{id}, scanText)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fault.NotFound("node", id)
		case found[0] == string(entity.NodeDown):
			return fault.Conflict("node_down", "the node is down; it takes no runs until it is back")
		}
		status, from := entity.NodeDraining, "status <> 'DRAINING'"
		if !draining {
			status, from = entity.NodeUp, "status = 'DRAINING'"
		}
		_, err = c.exec(ctx, "node.drain", "UPDATE scheduler_node_registry SET status = ? WHERE id = ? AND "+from, string(status), id)
		return err
	})
}

// Leave implements repository.Nodes.
func (r *Nodes) Leave(ctx context.Context, id string, epoch int64) error {
	return r.s.change(ctx, repository.LaneComplete, "node-leave", func(ctx context.Context, c *conn) error {
		_, err := c.exec(ctx, "node.leave", "UPDATE scheduler_node_registry SET status = ?, running = 0 WHERE id = ? AND epoch = ?",
			string(entity.NodeDown), id, epoch)
		return err
	})
}

// View implements repository.Nodes. The time is read after the rows, so that
// no beat is younger than it.
func (r *Nodes) View(ctx context.Context) ([]entity.Node, time.Time, error) {
	nodes, err := r.All(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.s.StoreTime(ctx)
	return nodes, now, err
}

// ForgetNodes implements repository.Nodes. What a node runs and what waits for
// it is told by the claim keys, see entity.ClaimKey and entity.Queue.
func (r *Nodes) ForgetNodes(ctx context.Context, before time.Time) (n int, err error) {
	err = r.s.change(ctx, repository.LaneRetention, "node-forget", func(ctx context.Context, c *conn) error {
		found, err := c.exec(ctx, "node.forget", "DELETE FROM scheduler_node_registry WHERE status = 'DOWN' AND last_heartbeat < ?"+
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_execution WHERE claim_key = CONCAT('R', scheduler_node_registry.id))"+
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_execution WHERE claim_key > CONCAT('W', scheduler_node_registry.id, '!')"+
			" AND claim_key < CONCAT('W', scheduler_node_registry.id, '\"'))", text(before))
		n = int(found)
		return err
	})
	return n, err
}
