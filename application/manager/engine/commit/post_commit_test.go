package commit_test

import (
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestEffectsAddUp(t *testing.T) {
	a, b, c := &entity.Execution{ID: "a"}, &entity.Execution{ID: "b"}, &entity.Job{ID: "c"}
	var e commit.PostCommit
	e.Add(commit.PostCommit{
		Ready: 2, Shared: true, NextScheduled: noon.Add(time.Hour),
		Stopping: []*entity.Execution{a},
	})
	e.Add(commit.PostCommit{
		Ready: 1, Away: 2, Nodes: []string{"x", "y"}, NextScheduled: noon,
		Closed: []*entity.Execution{b}, Rearmed: []*entity.Job{c},
	})
	e.Add(commit.PostCommit{Away: 1, Nodes: []string{"y"}, Waits: []entity.SteadyWait{{Execution: "d"}}})
	e.Add(commit.PostCommit{Waits: []entity.SteadyWait{{Execution: "e"}}})
	e.Add(commit.PostCommit{})
	require.Equal(t, commit.PostCommit{
		Ready: 3, Away: 3, Shared: true, Nodes: []string{"x", "y"}, NextScheduled: noon, Stopping: []*entity.Execution{a},
		Closed: []*entity.Execution{b}, Rearmed: []*entity.Job{c},
		Waits: []entity.SteadyWait{{Execution: "d"}, {Execution: "e"}},
	}, e, "the earliest moment is the one to wake for")
}
