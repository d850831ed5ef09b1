package persistence

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// instanceWait is how long a start waits for the lock of a former process
// under the same id: the server frees it as soon as it sees that process's
// connection end.
const instanceWait = 5 * time.Second

// HoldInstance makes sure that one process at a time runs as this node on this
// store: a second one is told so, by fault.KindConflict. On MySQL the claim is
// a named lock of a connection kept for it, which dies with the process; an
// SQLite file belongs to one process already, by the lock of its data folder.
func (s *Store) HoldInstance(ctx context.Context, nodeID string) error {
	if s.writer != nil {
		return nil
	}
	c, err := s.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("hold the node id %s: %w", nodeID, err)
	}
	var held int
	// The lock's name holds the database's, because locks are the server's;
	// both are hashed to stay below the limit of 64 characters.
	err = c.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('ps-', SHA1(CONCAT(DATABASE(), ':', ?))), ?)",
		nodeID, int(instanceWait.Seconds())).Scan(&held)
	if err == nil && held == 1 {
		_, err = c.ExecContext(ctx, "SET SESSION wait_timeout = 31536000")
	}
	if err != nil || held != 1 {
		_ = c.Close()
	}
	switch {
	case err != nil:
		return fmt.Errorf("hold the node id %s: %w", nodeID, err)
	case held != 1:
		return fault.Conflict("node_id_taken", "another process runs as node %q on this store; stop it, or give this one another node.id (PS_NODE_ID)", nodeID)
	}
	s.closers = append(s.closers, lastly(c.Close))
	return nil
}
