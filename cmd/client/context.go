package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// Contexts are the servers that a person speaks to.
type Contexts struct {
	Current  string             `yaml:"current"`
	Contexts map[string]Context `yaml:"contexts"`

	file string
}

// Context is one server and the token for it.
type Context struct {
	Server  string `yaml:"server"`
	Token   string `yaml:"token"`
	TokenID string `yaml:"tokenId,omitempty"`
	User    string `yaml:"user,omitempty"`
	// CAFile holds certificates to trust besides those of the machine.
	CAFile string `yaml:"caFile,omitempty"`
}

// OpenContexts reads the file of contexts; one that is not there holds none. A
// file that others can read is refused: it holds tokens.
func OpenContexts(file string) (*Contexts, error) {
	c := &Contexts{Contexts: map[string]Context{}, file: file}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the contexts: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s holds tokens and can be read by others: make it private (chmod 600)", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the contexts: %w", err)
	}
	if err := yaml.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("read the contexts in %s: %w", file, err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]Context{}
	}
	return c, nil
}

// Save writes the file, readable for its owner alone, whole or not at all.
func (c *Contexts) Save() error {
	data, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	half := c.file + ".new"
	if err = os.MkdirAll(filepath.Dir(c.file), 0o700); err == nil {
		err = os.WriteFile(half, data, 0o600)
	}
	if err == nil {
		err = os.Rename(half, c.file)
	}
	if err != nil {
		return fmt.Errorf("keep the contexts: %w", err)
	}
	return nil
}
