package executiontest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// failures finds what ended FAILED, TIMEOUT or DEAD, newest first, in a span.
func failures(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for n, status := range []entity.Status{
		entity.StatusFailed, entity.StatusSuccess, entity.StatusTimeout, entity.StatusCancelled, entity.StatusDead,
	} {
		row := storetest.RunOf(storetest.JobID(n), storetest.Noon.Add(time.Duration(n)*time.Second))
		row.Status, row.Claim, row.Reason = status, "", entity.ReasonExitCode
		row.EndTime = storetest.Noon.Add(time.Minute)
		rows = append(rows, row)
	}
	storetest.Add(t, s, nil, rows...)
	found := func(f repository.FailureFilter, limit int) (ids []string, complete bool) {
		t.Helper()
		failed, complete, err := s.Executions.Failures(t.Context(), f, limit)
		require.NoError(t, err)
		for _, x := range failed {
			require.Equal(t, entity.ReasonExitCode, x.Reason)
			require.Equal(t, storetest.Noon.Add(time.Minute), x.EndTime)
			ids = append(ids, x.ExecutionID)
		}
		return ids, complete
	}
	ids, complete := found(repository.FailureFilter{}, 10)
	require.Equal(t, []string{rows[4].ID, rows[2].ID, rows[0].ID}, ids)
	require.True(t, complete)
	ids, complete = found(repository.FailureFilter{}, 2)
	require.Equal(t, []string{rows[4].ID, rows[2].ID}, ids)
	require.False(t, complete, "there are more than it may find")
	ids, _ = found(repository.FailureFilter{
		From: storetest.Noon.Add(time.Second), To: storetest.Noon.Add(4 * time.Second),
	}, 10)
	require.Equal(t, []string{rows[2].ID}, ids)
	ids, _ = found(repository.FailureFilter{Groups: []string{"none"}}, 10)
	require.Empty(t, ids)
	ids, _ = found(repository.FailureFilter{JobIDs: []string{storetest.JobID(2), storetest.JobID(3)}}, 10)
	require.Equal(t, []string{rows[2].ID}, ids)
	ids, _ = found(repository.FailureFilter{JobIDs: []string{"Ä"}}, 10)
	require.Empty(t, ids)
	ids, _ = found(repository.FailureFilter{Statuses: []entity.Status{entity.StatusDead, entity.StatusFailed}}, 10)
	require.Equal(t, []string{rows[4].ID, rows[0].ID}, ids)
}
