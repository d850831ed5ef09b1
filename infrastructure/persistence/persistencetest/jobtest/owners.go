package jobtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
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

// editorsOfWorkflows: a version that nobody saves has the editor of the one before it. Other jobs have none.
func editorsOfWorkflows(t *testing.T, s *persistence.Store) {
	flow, plain := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)
	flow.Type, flow.Data, flow.EditedBy, plain.EditedBy = entity.JobWorkflow, `{"steps":[]}`, "ann", "ann"
	storetest.Add(t, s, []*entity.Job{flow, plain})
	save := func(editor string) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			j, err := tx.Jobs.LockFull(ctx, flow.ID)
			if err != nil {
				return err
			}
			j.Version, j.EditedBy = j.Version+1, editor
			return tx.Jobs.Update(ctx, j, false)
		})
	}
	for _, editor := range []string{"", "bob", "", ""} {
		save(editor)
	}
	var got []string
	for version := range 7 { // from 0, which nobody made, to one that is to come
		editor, err := s.Jobs.EditorOf(t.Context(), flow.ID, flow.Version-1+version)
		require.NoError(t, err)
		got = append(got, editor)
	}
	require.Equal(t, []string{"", "ann", "ann", "bob", "bob", "bob", ""}, got)
	editor, err := s.Jobs.EditorOf(t.Context(), plain.ID, plain.Version)
	require.NoError(t, err)
	require.Empty(t, editor)
}
