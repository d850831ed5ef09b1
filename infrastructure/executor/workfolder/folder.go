package workfolder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The names in the folder of a run.
const (
	homeName   = "home"
	scriptName = "script"
	reportName = "report"
)

// Folder is what one run is given: a home that is its user's, and beside it a
// script that the user can read, and a report that the user can write; neither
// can be replaced. All stand in a folder that stays this process's own.
type Folder struct {
	area *Area
	path string
	name string
	// parent is the folder of the area, as it was when this one was made.
	parent *os.File
	outer  *os.File
	home   *os.File
	report *os.File
}

// Make makes the folder of one run, with its script when that is not empty.
// label begins its name, for people. The user of the run is let in last, when
// everything is in place.
func (a *Area) Make(label, script string) (*Folder, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errors.New("make the working folder: the server is stopping")
	}
	f := &Folder{area: a, name: label + "." + strings.ToLower(rand.Text())}
	var err error
	if f.outer, err = makeFolder(a.folder, f.name); errors.Is(err, unix.ENOENT) {
		// Somebody cleared the folder for temporary files. Its descriptor leads
		// nowhere now, and whatever stands under its name is not ours.
		if err = a.renew(); err == nil {
			f.outer, err = makeFolder(a.folder, f.name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make the working folder: %w", err)
	}
	f.path, f.parent = filepath.Join(a.base, a.name, f.name), a.folder
	if err := f.fill(script); err != nil {
		_, _ = f.home.Close(), f.report.Close()
		return nil, errors.Join(err, removeFolder(a.folder, f.name, f.outer, !a.owner.Change), f.outer.Close())
	}
	return f, nil
}

// fill makes what is in the folder, and then lets its user in.
func (f *Folder) fill(script string) (err error) {
	if script != "" {
		if err := f.write(script); err != nil {
			return fmt.Errorf("write the script: %w", err)
		}
	}
	if f.report, err = f.makeReport(); err != nil {
		return fmt.Errorf("make the report file: %w", err)
	}
	if f.home, err = makeFolder(f.outer, homeName); err != nil {
		return fmt.Errorf("make the working folder: %w", err)
	}
	o := f.area.owner
	if !o.Change {
		return nil
	}
	err = f.home.Chown(o.UID, o.GID)
	if err == nil {
		err = f.outer.Chown(-1, o.GID)
	}
	if err == nil {
		err = f.outer.Chmod(0o710)
	}
	if err != nil {
		return fmt.Errorf("give the working folder to %s: %w", o.Name, err)
	}
	return nil
}

// write makes the script. Its mode is set by descriptor, so that no mask
// matters.
func (f *Folder) write(script string) error {
	fd, err := unix.Openat(int(f.outer.Fd()), scriptName, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), scriptName)
	mode := os.FileMode(0o400)
	_, err = file.WriteString(script)
	if o := f.area.owner; err == nil && o.Change {
		mode, err = 0o440, file.Chown(-1, o.GID)
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	return errors.Join(err, file.Close())
}

// makeReport makes the file in which the run reports. It is read through this
// descriptor alone, whatever becomes of its name.
func (f *Folder) makeReport() (*os.File, error) {
	fd, err := unix.Openat(int(f.outer.Fd()), reportName, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), reportName)
	if err = file.Chmod(0o600); err == nil && f.area.owner.Change {
		err = file.Chown(f.area.owner.UID, f.area.owner.GID)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Home is the folder in which the run works and may write. No part of its path
// can be changed by the user of the run.
func (f *Folder) Home() string { return filepath.Join(f.path, homeName) }

// Script is the file of the script.
func (f *Folder) Script() string { return filepath.Join(f.path, scriptName) }

// Report is the file in which the run reports, for its user.
func (f *Folder) Report() string { return filepath.Join(f.path, reportName) }

// ReportFile is the same file, to be read. It is closed with Remove.
func (f *Folder) ReportFile() *os.File { return f.report }

// Remove removes the folder with everything in it, also what its user made
// unreadable. Nothing of the run may be left.
func (f *Folder) Remove() error {
	defer f.outer.Close()
	defer f.home.Close()
	defer f.report.Close()
	// Most runs leave nothing behind.
	if unix.Unlinkat(int(f.outer.Fd()), homeName, unix.AT_REMOVEDIR) == nil {
		_, _ = unlink(f.outer, scriptName), unlink(f.outer, reportName)
		if unix.Unlinkat(int(f.parent.Fd()), f.name, unix.AT_REMOVEDIR) == nil {
			return nil
		}
	}
	return removeFolder(f.parent, f.name, f.outer, !f.area.owner.Change)
}
