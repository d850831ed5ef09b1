package enginetest

import (
	"context"
	"encoding/base64"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// Vault is a store of secrets in which each value is its name, twice, until a
// test changes it. It is safe for concurrent use.
type Vault struct {
	mu      sync.Mutex
	changed map[string]string
}

// Change gives a secret another value; empty deletes it.
func (v *Vault) Change(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed == nil {
		v.changed = map[string]string{}
	}
	v.changed[name] = value
}

// Open implements redact.Opener.
func (v *Vault) Open(_ context.Context, _ string, names []string) (map[string]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	values := map[string]string{}
	for _, name := range names {
		value, ok := v.changed[name]
		if !ok {
			value = name + name
		}
		if value != "" {
			values[name] = value
		}
	}
	return values, nil
}

// Keys is a ring with one key, which is made of a byte.
func Keys(t testing.TB, seed byte) *secret.Keyring {
	t.Helper()
	raw := make([]byte, secret.KeyBytes)
	raw[0] = seed
	ring, err := secret.NewKeyring(base64.StdEncoding.EncodeToString(raw))
	require.NoError(t, err)
	return ring
}
