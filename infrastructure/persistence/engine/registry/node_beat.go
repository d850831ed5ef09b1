package registry

import (
	"context"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// beatStatement is a beat of a node: what it carries, and that it is alive.
// more are further assignments.
func beatStatement(c *sqldb.Conn, n entity.Node, more string, added ...any) (query string, args []any) {
	now, at := c.Now()
	args = append(at, strings.Join(n.Roles, ","), n.Slots, n.Running, n.CommandSlots, n.CommandRunning, n.CPU, n.Memory,
		n.ClockOffset.Milliseconds())
	args = append(append(append(args, at...), added...), n.ID, n.Epoch)
	return "UPDATE scheduler_node_registry SET last_heartbeat = " + now +
		", roles = ?, slots = ?, running = ?, command_slots = ?, command_running = ?, cpu = ?, memory = ?, clock_offset = " +
		"?, update_time = " + now +
		", status = CASE WHEN status = 'SUSPECT' THEN 'UP' ELSE status END" + more + " WHERE id = ? AND epoch = ? AND " +
		"status <> 'DOWN'", args
}

// Connect implements repository.Nodes: beats share connections that are there.
func (r *Nodes) Connect(context.Context) error { return nil }

// Heartbeat implements repository.Nodes.
func (r *Nodes) Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error) {
	query, args := beatStatement(r.s.Pool, n, "")
	found, err := r.s.ExecAtOnce(ctx, repository.LaneComplete, "node.heartbeat", query, args...)
	return found == 1 && err == nil, err
}

// Mark implements repository.Nodes. Somebody may have declared or drained the node since
// the look: an older SUSPECT must not undo that. MySQL assigns from left to right, so
// whether the node drains is read before its status changes.
func (r *Nodes) Mark(ctx context.Context, n entity.Node, status entity.NodeStatus, cause string) (ok bool, err error) {
	from := "status <> 'DOWN'"
	if status == entity.NodeSuspect {
		from = "status = 'UP'"
	}
	found, err := r.s.ExecAtOnce(ctx, repository.LaneComplete, "node.mark",
		"UPDATE scheduler_node_registry SET drained = CASE WHEN status = 'DRAINING' THEN 1 ELSE 0 END, status = ?, "+
			"down_cause = ? WHERE id = ? AND epoch = ? AND last_heartbeat = ? AND "+from,
		string(status), sqlvalue.OrNull(cause), n.ID, n.Epoch, sqlvalue.TimeArg(n.LastHeartbeat))
	return found == 1 && err == nil, err
}

// Drain implements repository.Nodes.
func (r *Nodes) Drain(ctx context.Context, id string, draining bool) error {
	if !sqlvalue.IsASCIIID(id) {
		return apperror.NotFound("node", id)
	}
	status, from := entity.NodeDraining, "status IN ('UP', 'SUSPECT')"
	if !draining {
		status, from = entity.NodeUp, "status = 'DRAINING'"
	}
	found, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "node.drain",
		"UPDATE scheduler_node_registry SET status = ? WHERE id = ? AND "+from, string(status), id)
	if err != nil || found == 1 {
		return err
	}
	states, err := sqldb.Collect(ctx, r.s.Pool, "node.status", "SELECT status FROM scheduler_node_registry WHERE id = ?",
		[]any{id}, sqlvalue.ScanText)
	switch {
	case err != nil:
		return err
	case len(states) == 0:
		return apperror.NotFound("node", id)
	case states[0] == string(entity.NodeDown):
		return apperror.Conflict("node_down", "the node is down; it takes no runs until it is back")
	}
	return nil // it is so already
}

// Leave implements repository.Nodes.
func (r *Nodes) Leave(ctx context.Context, id string, epoch int64) error {
	_, err := r.s.ExecAtOnce(ctx, repository.LaneComplete, "node.leave",
		"UPDATE scheduler_node_registry SET status = ?, down_cause = ?, running = 0, command_running = 0 WHERE id = ? AND "+
			"epoch = ? AND status <> ?",
		string(entity.NodeDown), entity.DownLeft, id, epoch, string(entity.NodeDown))
	return err
}

// View implements repository.Nodes. The time is read after the rows, so that
// no beat is younger than it.
func (r *Nodes) View(ctx context.Context) ([]entity.Node, time.Time, error) {
	var rows []nodeRow
	if err := r.s.Pool.GORM(ctx, "node.view").Omit("handlers").Order("id").Find(&rows).Error; err != nil {
		return nil, time.Time{}, err
	}
	if err := r.handlers.fill(ctx, r.s.Pool, rows); err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.s.Pool.StoreTime(ctx)
	return nodesOf(r.s.Pool, rows), now, err
}

// ForgetNodes implements repository.Nodes.
func (r *Nodes) ForgetNodes(ctx context.Context, before time.Time) (int, error) {
	return ForgetIdle(ctx, r.s, "node",
		" FROM scheduler_node_registry WHERE status = 'DOWN' AND last_heartbeat < ?", before)
}
