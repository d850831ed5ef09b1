package dbtest

import (
	"errors"
	"os"
	"path/filepath"
)

// shared returns what another process of this run has made, or makes it for the others. The folder belongs to one run,
// so that it holds nothing of former migrations.
func shared(name string, produce func() ([]byte, error)) ([]byte, error) {
	dir := os.Getenv(envTemplates)
	if dir == "" {
		return produce()
	}
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path) //nolint:gosec // the folder is the caller's own
	if !errors.Is(err, os.ErrNotExist) {
		return data, err
	}
	if data, err = produce(); err != nil {
		return nil, err
	}
	// Others see all of it or nothing.
	file, err := os.CreateTemp(dir, name)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(data)
	return data, errors.Join(err, file.Close(), os.Rename(file.Name(), path))
}
