package watching

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxReason bounds what a node writes of one part, in bytes.
const maxReason = 500

// TroublesDeps are the parts of a Troubles.
type TroublesDeps struct {
	Registry repository.NodeTroubles
	// Node is the id and the epoch of this node; an epoch of 0: it is not registered.
	Node func() (id string, epoch int64)
	// Parts are those that work less well than they should, with the reasons.
	Parts func() map[string]string
}

// Troubles writes what of this node is degraded into its row, so that the leader sees the
// parts of all nodes. It writes when that changes, and once in each life of the node. It is
// one task of a node, and not safe for concurrent use.
type Troubles struct {
	TroublesDeps
	// written is what the row says in the life of an epoch; 0: nobody knows.
	epoch   int64
	written string
}

// NewTroubles wires the parts.
func NewTroubles(d TroublesDeps) *Troubles { return &Troubles{TroublesDeps: d} }

// RunOnce writes what has changed.
func (t *Troubles) RunOnce(ctx context.Context) error {
	id, epoch := t.Node()
	if epoch == 0 {
		return nil
	}
	parts := map[string]string{}
	for part, why := range t.Parts() {
		parts[part] = shorten(why)
	}
	now, err := json.Marshal(parts)
	if err != nil {
		return fmt.Errorf("write the trouble of the node: %w", err)
	}
	if t.epoch == epoch && t.written == string(now) {
		return nil
	}
	if err := t.Registry.PutTrouble(ctx, id, epoch, parts); err != nil {
		return fmt.Errorf("write the trouble of the node: %w", err)
	}
	t.epoch, t.written = epoch, string(now)
	return nil
}

// shorten keeps the first bytes of a text, whole characters alone.
func shorten(s string) string {
	if len(s) <= maxReason {
		return s
	}
	end := maxReason
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
