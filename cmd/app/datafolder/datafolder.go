// Package datafolder takes the data folder of a server, and keeps its files private.
package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The files of a data folder.
const (
	// DatabaseFile is the SQLite store.
	DatabaseFile = "platform-scheduler.db"
	// KeyFile holds the keys of secrets of a standalone server without secrets.key.
	KeyFile = "secret-key"
	// lockFile is locked by the process that uses the folder.
	lockFile = "platform-scheduler.lock"
	// passwordFile holds the first admin's password until it is changed.
	passwordFile = "initial-admin-password"
)

// Folder is a folder in use by this process alone.
type Folder struct {
	path string
	lock *os.File
	// Mended says which rights of others were taken away.
	Mended []string
}

// Open makes the folder where needed and takes it for this process.
// The lock dies with the process, so a restart after a crash needs no help.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder cannot be made: %w; choose another one with dataDir (PS_DATA_DIR)", err)
	}
	mended, err := secureFolder(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(path, lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the server cannot write to the data folder: %w; correct its permissions, or choose another "+
			"one with dataDir (PS_DATA_DIR)", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(name)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("the data folder %s is in use by another server (pid %s); stop that one, or give this one "+
				"a folder of its own with dataDir (PS_DATA_DIR)",
				path, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock the data folder %s: %w", path, err)
	}
	if err := writePid(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("the server cannot write to the data folder: %w; correct its permissions, or choose another "+
			"one with dataDir (PS_DATA_DIR)", err)
	}
	d := &Folder{path: path, lock: f}
	if d.Mended, err = secureFiles(path); err != nil {
		_ = f.Close()
		return nil, err
	}
	if mended != "" {
		d.Mended = append(d.Mended, mended)
	}
	return d, nil
}

func writePid(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0)
	return err
}

// File is the path of a file of the folder.
func (d *Folder) File(name string) string { return filepath.Join(d.path, name) }

// Close gives the folder free.
func (d *Folder) Close() error { return d.lock.Close() }
