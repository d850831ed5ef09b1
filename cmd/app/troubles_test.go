package app_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// A node whose Redis is away says so in its row.
func TestANodeTellsItsTroubles(t *testing.T) {
	cfg := peers(t, allRoles)[0]
	cfg.Redis = redistest.Gone(t)
	n := startNode(t, cfg, &script{})
	defer n.stop()
	id := n.Member.Self().ID
	n.await("the row tells of Redis", func() bool {
		found, err := n.Store.Troubles(t.Context())
		return err == nil && found[id]["redis"] != ""
	})
}
