package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// started is what a node with these settings logs of a text when it starts.
func started(t *testing.T, cfg config.Config, texts ...string) []string {
	t.Helper()
	n := startNode(t, cfg, &script{})
	defer n.stop()
	return n.log.With(texts...)
}

// Secrets that no group was chosen for are everybody's: the start says so until
// somebody has chosen.
func TestTheStartTellsOfSharedSecrets(t *testing.T) {
	cfg := newConfig(t)
	shared := []string{
		"level=INFO", "all secrets are for the jobs of every group", "secrets=2",
		"PUT /api/v1/secrets/NAME",
	}
	require.Empty(t, started(t, cfg, shared[1]), "there are none")
	n := startNode(t, cfg, &script{})
	for _, name := range []string{"one", "two"} {
		_, err := n.Secrets.Create(t.Context(), secret.SecretInput{Name: name, Value: "canary-7f3a91"})
		require.NoError(t, err)
	}
	n.stop()
	require.Len(t, started(t, cfg, shared...), 1)
	n = startNode(t, cfg, &script{})
	_, err := n.Secrets.Edit(t.Context(), secret.SecretEdit{
		SecretInput: secret.SecretInput{Name: "two", Groups: []string{"default"}}, KeepValue: true, Version: 1,
	})
	require.NoError(t, err)
	n.stop()
	require.Empty(t, started(t, cfg, shared[1]), "somebody has chosen")
}
