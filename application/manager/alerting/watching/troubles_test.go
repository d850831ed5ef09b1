package watching_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// row is what a node has written of itself.
type row struct {
	repository.NodeTroubles
	writes []map[string]string
	fails  bool
}

// PutTrouble implements repository.NodeTroubles.
func (r *row) PutTrouble(_ context.Context, _ string, _ int64, parts map[string]string) error {
	if r.fails {
		return errors.New("the store is away")
	}
	r.writes = append(r.writes, parts)
	return nil
}

// A node writes its troubles when they change, once in each life, and again after a failure.
func TestANodeWritesItsTroublesWhenTheyChange(t *testing.T) {
	var r row
	epoch, parts := int64(0), map[string]string{}
	n := watching.NewTroubles(watching.TroublesDeps{
		Registry: &r, Node: func() (string, int64) { return "n1", epoch },
		Parts: func() map[string]string { return parts },
	})
	look := func(want int) {
		t.Helper()
		require.NoError(t, n.RunOnce(t.Context()))
		require.Len(t, r.writes, want)
	}
	look(0) // it is not registered
	epoch = 1
	look(1) // a former life may have left something
	look(1)
	parts["redis"] = strings.Repeat("é", 400)
	r.fails = true
	require.Error(t, n.RunOnce(t.Context()))
	r.fails = false
	look(2)
	require.Equal(t, strings.Repeat("é", 250), r.writes[1]["redis"])
	look(2)
	epoch = 2
	look(3)
	delete(parts, "redis")
	look(4)
	require.Empty(t, r.writes[3])
}
