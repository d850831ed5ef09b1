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

// Folder belongs to one run. It holds a home, which belongs to the run's user. It also holds a
// script that this user can read, and a report that this user can write. The user can replace
// neither, because all are in a folder of this process's own.
type Folder struct {
	area *Area
	path string
	name string
	// parent is the folder of the area at the time when this folder was made.
	parent *os.File
	outer  *os.File
	home   *os.File
	report *os.File
}

// Make makes the folder of one run, with a script unless that is empty. label begins the name
// of the folder, for people. Make lets the user in last, when everything is in place.
func (a *Area) Make(label, script string) (*Folder, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errors.New("make the working folder: the server is stopping")
	}
	f := &Folder{area: a, name: label + "." + strings.ToLower(rand.Text())}
	var err error
	if f.outer, err = makeFolder(a.folder, f.name); errors.Is(err, unix.ENOENT) {
		// Somebody removed the area's folder as a temporary one. Its descriptor leads nowhere
		// now, and a folder with its name is not ours.
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

// fill makes the content of the folder, and then lets its user in.
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

// write makes the script. It sets the mode by descriptor, so that no mask matters.
func (f *Folder) write(script string) error {
	fd, err := unix.Openat(int(f.outer.Fd()), scriptName,
		unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
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

// makeReport makes the file in which the run reports. The file is read through this descriptor
// alone, whatever happens to its name.
func (f *Folder) makeReport() (*os.File, error) {
	fd, err := unix.Openat(int(f.outer.Fd()), reportName,
		unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
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

// Home returns the folder in which the run works and may write. The user of the run can change
// no part of its path.
func (f *Folder) Home() string { return filepath.Join(f.path, homeName) }

// Script returns the path of the script.
func (f *Folder) Script() string { return filepath.Join(f.path, scriptName) }

// Report returns the path of the file in which the run reports.
func (f *Folder) Report() string { return filepath.Join(f.path, reportName) }

// ReportFile returns the same file, open for reading. Remove closes it.
func (f *Folder) ReportFile() *os.File { return f.report }

// Remove removes the folder with all its content, also files that its user made unreadable. No
// process of the run may be left.
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
