package servicetest

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// KeyOf is a key of secrets, made of one byte.
func KeyOf(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, keyring.KeyBytes))
}

// Vault keeps secrets in a store.
func Vault(t *testing.T, store *persistence.Store, keys ...string) *secret.SecretService {
	t.Helper()
	return vaultBy(t, store, clocktest.NewManual(enginetest.Noon), keys...)
}

func vaultBy(t *testing.T, store *persistence.Store, c clock.Clock, keys ...string) *secret.SecretService {
	t.Helper()
	ring, err := keyring.NewKeyring(keys...)
	require.NoError(t, err)
	return secret.NewSecretService(store, store, ring, c)
}
