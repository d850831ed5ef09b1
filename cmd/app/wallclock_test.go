package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Engine rule 13: where the store has a clock, a step of a node's wall clock ends no
// session, and forgets no key of a call.
func TestAStepOfTheWallClockTouchesNoSessionAndNoKey(t *testing.T) {
	cfgs := peers(t, allRoles)
	e := startEdge(t, cfgs[0])
	defer e.stop()
	j := e.create(newJob("by hand", func(*entity.Job) {}))
	trigger := func() string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.server.URL()+"/api/v1/jobs/"+j.ID+"/trigger",
			bytes.NewReader([]byte("{}")))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+e.token)
		r.Header.Set("Idempotency-Key", "once")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		require.Equal(t, http.StatusAccepted, res.StatusCode)
		var answer struct{ ExecutionIDs []string }
		require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
		require.Len(t, answer.ExecutionIDs, 1)
		return answer.ExecutionIDs[0]
	}
	first := trigger()
	for _, step := range []time.Duration{26 * time.Hour, -52 * time.Hour} {
		e.clock.Jump(step)
		require.Equal(t, first, trigger(), "the key is known after a step by %s", step)
	}
}
