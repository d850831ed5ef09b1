package planning_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
)

// desk is a node with rules.
type desk struct{ *alertingtest.Desk }

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{alertingtest.New(t)}
}
