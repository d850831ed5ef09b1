package secret_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

func key(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, secret.KeyBytes))
}

func ring(t *testing.T, keys ...string) *secret.Keyring {
	t.Helper()
	r, err := secret.NewKeyring(keys...)
	require.NoError(t, err)
	return r
}

func TestWhatIsSealedOpensUnderItsNameAndKeyAlone(t *testing.T) {
	r := ring(t, key(1))
	id, sealed, err := r.Seal("db", "hunter2")
	require.NoError(t, err)
	require.Equal(t, r.Current(), id)
	require.NotContains(t, string(sealed), "hunter2")
	value, err := r.Open("db", id, sealed)
	require.NoError(t, err)
	require.Equal(t, "hunter2", value)

	_, again, err := r.Seal("db", "hunter2")
	require.NoError(t, err)
	require.NotEqual(t, sealed, again, "equal values do not show")

	_, err = r.Open("other", id, sealed)
	require.EqualError(t, err, "the sealed value is damaged")
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		_, err = r.Open("db", id, broken)
		require.Error(t, err)
	}
	for _, short := range [][]byte{nil, sealed[:23], sealed[:24], sealed[:len(sealed)-1]} {
		_, err = r.Open("db", id, short)
		require.Error(t, err)
	}
	_, err = ring(t, key(2)).Open("db", id, sealed)
	require.ErrorIs(t, err, secret.ErrNoKey)
}

func TestTheFirstKeySealsAndAllOpen(t *testing.T) {
	oldID, sealed, err := ring(t, key(1)).Seal("db", "v")
	require.NoError(t, err)
	both := ring(t, key(2), key(1))
	value, err := both.Open("db", oldID, sealed)
	require.NoError(t, err)
	require.Equal(t, "v", value)
	newID, _, err := both.Seal("db", "v")
	require.NoError(t, err)
	require.NotEqual(t, oldID, newID)
	require.Equal(t, ring(t, key(2)).Current(), newID)
}

func TestARingWithoutKeysNeitherSealsNorOpens(t *testing.T) {
	for _, r := range []*secret.Keyring{nil, ring(t)} {
		require.Empty(t, r.Current())
		_, _, err := r.Seal("db", "v")
		require.ErrorIs(t, err, secret.ErrNoKey)
		_, err = r.Open("db", "", nil)
		require.ErrorIs(t, err, secret.ErrNoKey)
	}
}

func TestWrongKeysAreRefusedWithoutBeingShown(t *testing.T) {
	for _, text := range []string{"", "short", key(1)[:40], strings.Repeat("A", 1000)} {
		_, err := secret.NewKeyring(key(1), text)
		require.ErrorContains(t, err, "key 2 is not 32 bytes in base64")
		if text != "" {
			require.NotContains(t, err.Error(), text)
		}
	}
}

func TestTheKeyFileIsMadeOnceAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret-key")
	first, err := secret.LoadFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	second, err := secret.LoadFile(path)
	require.NoError(t, err)
	require.Equal(t, first.Current(), second.Current())

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(key(3)+"\n"+string(data)), 0o600))
	rotated, err := secret.LoadFile(path)
	require.NoError(t, err)
	require.Equal(t, ring(t, key(3)).Current(), rotated.Current())
	id, sealed, err := first.Seal("a", "v")
	require.NoError(t, err)
	_, err = rotated.Open("a", id, sealed)
	require.NoError(t, err)

	require.NoError(t, os.Chmod(path, 0o640))
	_, err = secret.LoadFile(path)
	require.ErrorContains(t, err, "chmod 600")
	require.NoError(t, os.WriteFile(path, []byte("# nothing\n"), 0o600))
	require.NoError(t, os.Chmod(path, 0o600))
	_, err = secret.LoadFile(path)
	require.ErrorContains(t, err, "it holds no key")
	_, err = secret.LoadFile(filepath.Join(t.TempDir(), "no", "folder"))
	require.Error(t, err)
}
