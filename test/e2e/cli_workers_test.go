//go:build linux

package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// workerCommands tries the commands about workers, with one that registers at the server itself.
func workerCommands(t *testing.T, s *shell, server string, say func(args ...string) string) {
	t.Helper()
	say("worker", "group", "set", "shop", "--job-group", "default")
	say("worker", "group", "set", "shop", "--max-workers", "9")
	say("worker", "group", "list")
	say("worker", "group", "show", "shop")
	var token struct{ ID, Token string }
	require.NoError(t, json.Unmarshal([]byte(say("worker", "token", "create", "shop", "deployed")), &token))
	require.NotContains(t, say("worker", "token", "list", "shop"), token.Token)

	body := strings.NewReader(`{"protocol":1,"group":"shop","instance":"a","bootId":"b"}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/workers", body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token.Token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, http.StatusCreated, res.StatusCode)
	var worker struct{ WorkerID string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&worker))

	say("worker", "list", "--group", "shop", "--status", "up")
	say("worker", "show", worker.WorkerID)
	say("worker", "drain", worker.WorkerID)
	require.Contains(t, s.must("worker", "show", worker.WorkerID), "DRAINING")
	say("worker", "resume", worker.WorkerID)
	say("worker", "token", "revoke", "shop", token.ID)
	say("worker", "group", "set", "empty", "--job-group", "default")
	say("worker", "group", "delete", "empty")
}
