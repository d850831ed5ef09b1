package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// PutTrouble implements repository.NodeTroubles.
func (r *Nodes) PutTrouble(ctx context.Context, id string, epoch int64, parts map[string]string) error {
	var text any
	if len(parts) > 0 {
		data, err := json.Marshal(parts)
		if err != nil {
			return fmt.Errorf("write the trouble of node %s: %w", id, err)
		}
		text = string(data)
	}
	_, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "node.trouble",
		"UPDATE scheduler_node_registry SET trouble = ? WHERE id = ? AND epoch = ?", text, id, epoch)
	return err
}

// Troubles implements repository.NodeTroubles.
func (r *Nodes) Troubles(ctx context.Context) (map[string]map[string]string, error) {
	type row struct{ id, text string }
	rows, err := sqldb.Collect(ctx, r.s.Pool, "node.troubles",
		"SELECT id, trouble FROM scheduler_node_registry WHERE trouble IS NOT NULL AND status <> 'DOWN' ORDER BY id", nil,
		func(rows *sql.Rows) (v row, err error) { return v, rows.Scan(&v.id, &v.text) })
	if err != nil {
		return nil, err
	}
	out := make(map[string]map[string]string, len(rows))
	for _, v := range rows {
		parts := map[string]string{}
		if err := json.Unmarshal([]byte(v.text), &parts); err != nil {
			parts = map[string]string{"registry": "the row of the node cannot be read: " + err.Error()}
		}
		out[v.id] = parts
	}
	return out, nil
}
