package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// LoadFile reads the keys of a file, one in each line, the current one first. Lines that begin
// with # are comments. Without a file it makes one with a new key, which only its owner can
// read.
func LoadFile(path string) (*Keyring, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys of secrets: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("look at the keys of secrets: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the keys of secrets in %s can be read by others: make the file private (chmod 600)", path)
	}
	var keys []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	ring, err := NewKeyring(keys...)
	if err == nil && ring.Current() == "" {
		err = errors.New("it holds no key")
	}
	if err != nil {
		return nil, fmt.Errorf("the keys of secrets in %s: %w", path, err)
	}
	return ring, nil
}

// create writes a new key. The content is on the disk before the name, so that a crash leaves a
// complete file or none.
func create(path string) error {
	raw := make([]byte, KeyBytes)
	if _, err := rand.Read(raw); err != nil {
		return fmt.Errorf("make a key for secrets: %w", err)
	}
	text := "# Seals the secrets in the database. Keep a copy apart from its backups.\n" +
		base64.StdEncoding.EncodeToString(raw) + "\n"
	half := path + ".new"
	f, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write a key for secrets: %w", err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(half, path)
	}
	if err != nil {
		return fmt.Errorf("write a key for secrets: %w", err)
	}
	return nil
}
