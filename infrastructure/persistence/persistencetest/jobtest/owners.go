package jobtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// ownersWhereNamed: who runs a job learns its owner only where the definition
// names it.
func ownersWhereNamed(t *testing.T, s *persistence.Store) {
	plain, named, nobodys := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon),
		storetest.PlannedJob(3, storetest.Noon)
	for _, j := range []*entity.Job{plain, named} {
		j.Owner = "ann 😀"
	}
	for _, j := range []*entity.Job{named, nobodys} {
		j.Data = `{"text":"for ${owner}"}`
	}
	storetest.Add(t, s, []*entity.Job{plain, named, nobodys})
	ids := []string{plain.ID, named.ID, nobodys.ID}
	planned, err := s.ForPlanning(t.Context(), ids)
	require.NoError(t, err)
	run, err := s.Jobs.ByIDs(t.Context(), ids)
	require.NoError(t, err)
	for _, jobs := range [][]*entity.Job{planned, run} {
		owners := map[string]string{}
		for _, j := range jobs {
			owners[j.ID] = j.Owner
		}
		require.Equal(t, map[string]string{plain.ID: "", named.ID: "ann 😀", nobodys.ID: ""}, owners)
	}
}
