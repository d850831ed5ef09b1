package follow_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// The store gets a row for the end of a step that ran, and none for the end that the decision itself makes: of a step
// that does not run, and of a map.
func TestADecisionOwesNothingForItsOwnEnds(t *testing.T) {
	store := dbtest.Open(t, dbtest.SQLite(t))
	n := enginetest.On(t, store, enginetest.Options{})
	n.Start(t)
	const added = "SELECT group_concat(item, ', ') FROM (SELECT item FROM added WHERE item LIKE 'END%' ORDER BY item)"
	var items string
	raw := func(query string) {
		t.Helper()
		err := dbtest.Write(t.Context(), store, repository.LaneAPI, "raw", func(ctx context.Context, tx dbtest.Tx) error {
			var err error
			if query == added {
				items, err = tx.QueryText(ctx, query)
			} else {
				_, err = tx.Exec(ctx, query)
			}
			return err
		})
		require.NoError(t, err)
	}
	raw("CREATE TABLE added (item TEXT)")
	raw("CREATE TRIGGER noted AFTER INSERT ON scheduler_workflow_todo BEGIN INSERT INTO added VALUES (NEW.item); END")
	job := n.Add(t, flowJob("ends", stepsOf(
		custom("a", ""), custom("off", `"needs": ["a"], "when": "params.day == 8"`), custom("behind", `"needs": ["off"]`),
		says("each", "${item}", `"forEach": {"items": [1]}`), says("none", "${item}", `"forEach": {"items": []}`)), nil))
	root := fire(t, n, job)
	follow(t, n, root, entity.StatusSuccess)
	require.Empty(t, owed(t, n))
	raw(added)
	require.Equal(t, "END a, END each[0]", items)
}
