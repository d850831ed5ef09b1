// Package workfolder makes the folders in which commands work, and removes them. It reaches
// everything below an area by descriptor. It never opens, changes or removes by a path a name
// that the user of a run can change.
package workfolder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owner is the user whose processes work in the folders.
type Owner struct {
	Name string
	// Change is true when this is another user than this process's own.
	Change   bool
	UID, GID int
}

// Area is the folder that holds the folders of the runs of one life of a node. Users of runs
// who are not this process's user may pass through it. They can neither list nor change it.
// Safe for concurrent use.
type Area struct {
	base   string
	prefix string
	owner  Owner

	// looks is held while a home is measured.
	looks sync.Mutex

	mu     sync.Mutex
	name   string
	folder *os.File
	closed bool
}

// Open makes an area: a new folder in base, whose name begins with prefix and cannot be
// guessed. The base must exist. Where the runs have another user, Open refuses a base in which
// that user or a third one could replace the area.
func Open(base, prefix string, o Owner) (*Area, error) {
	whole, err := filepath.Abs(base)
	if err == nil {
		whole, err = filepath.EvalSymlinks(whole)
	}
	if err != nil {
		return nil, fmt.Errorf("find the folder for working folders: %w", err)
	}
	a := &Area{base: whole, prefix: prefix, owner: o}
	if o.Change {
		if err := safe(whole); err != nil {
			return nil, err
		}
	}
	return a, a.renew()
}

// renew makes the folder of the area. The caller holds the lock, or is alone.
func (a *Area) renew() error {
	base, err := openFolder(a.base)
	if err != nil {
		return fmt.Errorf("open the folder for working folders: %w", err)
	}
	defer base.Close()
	name := a.prefix + strings.ToLower(rand.Text())
	folder, err := makeFolder(base, name)
	if err != nil {
		return fmt.Errorf("make the folder of working folders in %s: %w", a.base, err)
	}
	// Cleaners of temporary files leave locked files alone. No other process has this folder
	// yet, so the lock is free. Without a lock nothing is lost.
	_ = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if a.owner.Change {
		if err := folder.Chmod(0o711); err != nil {
			_ = folder.Close()
			return fmt.Errorf("let %s pass through %s: %w", a.owner.Name, filepath.Join(a.base, name), err)
		}
	}
	// A former folder is closed with the last run that refers to it.
	a.name, a.folder = name, folder
	return nil
}

// Path returns the path of the area.
func (a *Area) Path() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return filepath.Join(a.base, a.name)
}

// Clear removes the areas that former lives of the node left in the base. Call it when none of
// them lives. It leaves alone what is not this user's own, is a link, or is locked by a living
// process.
func (a *Area) Clear() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	base, err := openFolder(a.base)
	if err != nil {
		return fmt.Errorf("open the folder for working folders: %w", err)
	}
	defer base.Close()
	names, err := base.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read the folder for working folders: %w", err)
	}
	var errs []error
	for _, name := range names {
		if name == a.name || !strings.HasPrefix(name, a.prefix) {
			continue
		}
		if err := a.clear(base, name); err != nil {
			errs = append(errs, fmt.Errorf("remove the working folders of a former life in %s: %w", filepath.Join(a.base, name),
				err))
		}
	}
	return errors.Join(errs...)
}

func (a *Area) clear(base *os.File, name string) error {
	folder, err := openIn(base, name)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	if info, err := folder.Stat(); err != nil || !owned(info) {
		return err
	}
	if unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	return removeFolder(base, name, folder, !a.owner.Change)
}

// Close removes the area with all its content. No run may use it any more.
func (a *Area) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	defer a.folder.Close()
	base, err := openFolder(a.base)
	if err != nil {
		return fmt.Errorf("open the folder for working folders: %w", err)
	}
	defer base.Close()
	return removeFolder(base, a.name, a.folder, !a.owner.Change)
}

// safe returns an error unless only root and this user can replace the entries of a folder, and
// others may pass through it.
func safe(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("look at the folder for working folders: %w", err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode()
		switch {
		case !ok || stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
			return fmt.Errorf("working folders in %s would not be safe: %s belongs to another user; name a folder of root's "+
				"own in TMPDIR", dir, at)
		case mode.Perm()&0o022 != 0 && mode&os.ModeSticky == 0:
			return fmt.Errorf("working folders in %s would not be safe: others can write in %s; name a folder of root's own "+
				"in TMPDIR", dir, at)
		case mode.Perm()&0o001 == 0:
			return fmt.Errorf("the user of commands cannot reach working folders in %s: others may not enter %s; name another "+
				"folder in TMPDIR", dir, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
