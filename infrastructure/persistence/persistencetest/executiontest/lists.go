package executiontest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Lists runs the suite over stores that open gives.
func Lists(t *testing.T, open storetest.Opener) {
	t.Run("filters", func(t *testing.T) { filterExecutions(t, open(t, nil)) })
	t.Run("failures", func(t *testing.T) { failures(t, open(t, nil)) })
	t.Run("pages, newest first", func(t *testing.T) { pageExecutions(t, open(t, nil)) })
	t.Run("replays by root and by run", func(t *testing.T) { replays(t, open(t, nil)) })
}

func filterExecutions(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for n := range 10 {
		rows = append(rows, storetest.RunOf(storetest.JobID(n%2), storetest.Noon.Add(time.Duration(n)*time.Second)))
	}
	storetest.StartedOn(rows[3], "n1", 1)
	storetest.StartedOn(rows[4], "n2", 1)
	rows[5].Trigger = entity.TriggerManual
	for n, q := range map[int]entity.Queue{
		0: entity.NodeQueue("n2", entity.SlotGeneral), 1: entity.NodeQueue("n2", entity.SlotCommand),
		2: entity.NodeQueue("n20", entity.SlotGeneral),
		6: entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitHandler),
		7: entity.UnroutableQueue(entity.NodeClass{Labels: zoneA}, entity.WaitNode),
		8: entity.UnroutableQueue(entity.NodeClass{Command: true}, entity.WaitCommand),
	} {
		rows[n].Claim = q.Key(5, storetest.Noon)
	}
	storetest.Add(t, s, nil, rows...)
	at := func(n int) time.Time { return storetest.Noon.Add(time.Duration(n) * time.Second) }
	for _, c := range []struct {
		name   string
		filter repository.ExecutionFilter
		want   []int
	}{
		{"all", repository.ExecutionFilter{}, []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
		{"job", repository.ExecutionFilter{JobID: storetest.JobID(1)}, []int{9, 7, 5, 3, 1}},
		{"status", repository.ExecutionFilter{Status: entity.StatusRunning}, []int{4, 3}},
		{"node, that they are on or wait for", repository.ExecutionFilter{NodeID: "n2"}, []int{4, 1, 0}},
		{"node and state", repository.ExecutionFilter{NodeID: "n2", Status: entity.StatusWaiting}, []int{1, 0}},
		{"wait for a handler", repository.ExecutionFilter{WaitsFor: entity.WaitHandler}, []int{6}},
		{"wait for a node", repository.ExecutionFilter{WaitsFor: entity.WaitNode}, []int{7}},
		{"wait for commands", repository.ExecutionFilter{WaitsFor: entity.WaitCommand, JobID: storetest.JobID(0)}, []int{8}},
		{"wait for nothing of this kind", repository.ExecutionFilter{WaitsFor: entity.WaitJob}, nil},
		{"wait for a slot of a node", repository.ExecutionFilter{WaitsFor: entity.WaitSlot, NodeID: "n20"}, []int{2}},
		{"trigger", repository.ExecutionFilter{Trigger: entity.TriggerManual}, []int{5}},
		{"span", repository.ExecutionFilter{From: at(2), To: at(5)}, []int{4, 3, 2}},
		{"open span", repository.ExecutionFilter{From: at(8)}, []int{9, 8}},
		{
			"together",
			repository.ExecutionFilter{JobID: storetest.JobID(1), Status: entity.StatusWaiting, To: at(6)},
			[]int{5, 1},
		},
		{"nothing", repository.ExecutionFilter{Status: entity.StatusDead}, nil},
		{"impossible", repository.ExecutionFilter{JobID: "任务"}, nil},
	} {
		got, next, err := s.Executions.List(t.Context(), c.filter, repository.Page{})
		require.NoError(t, err, c.name)
		require.Empty(t, next, c.name)
		var want []string
		for _, n := range c.want {
			want = append(want, rows[n].ID)
		}
		require.Equal(t, want, append([]string(nil), storetest.IDs(got)...), c.name)
	}
}

func pageExecutions(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for n := range 25 {
		rows = append(rows, storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Duration(n)*time.Second)))
	}
	storetest.Add(t, s, nil, rows...)
	for _, f := range []repository.ExecutionFilter{{}, {JobID: storetest.JobID(1)}, {Status: entity.StatusWaiting}} {
		var seen []string
		page := repository.Page{Limit: 10}
		for {
			got, next, err := s.Executions.List(t.Context(), f, page)
			require.NoError(t, err)
			seen = append(seen, storetest.IDs(got)...)
			if next == "" {
				break
			}
			require.Len(t, got, 10)
			page.Cursor = next
		}
		want := storetest.IDs(rows)
		slices.Reverse(want)
		require.Equal(t, want, seen)
	}
	_, _, err := s.Executions.List(t.Context(), repository.ExecutionFilter{}, repository.Page{Cursor: "!"})
	require.True(t, apperror.Is(err, apperror.KindInvalid))
}

func replays(t *testing.T, s *persistence.Store) {
	root := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	first, second := storetest.RunOf(storetest.JobID(2), storetest.Noon.Add(time.Second)),
		storetest.RunOf(storetest.JobID(3), storetest.Noon.Add(2*time.Second))
	first.RetryOf, first.RootID = root.ID, root.ID
	second.RetryOf, second.RootID = first.ID, root.ID
	storetest.Add(t, s, nil, root, first, second)
	got, err := s.Executions.Replays(t.Context(), []string{root.ID, first.ID, second.ID})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{root.ID: {first.ID, second.ID}, first.ID: {second.ID}}, got)
}
