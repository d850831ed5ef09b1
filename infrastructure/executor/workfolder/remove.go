package workfolder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxEntries bounds the work when another process keeps writing into the folder.
const maxEntries = 5_000_000

// batch is the number of names that are read at once.
const batch = 1024

// removeFolder removes the folder of that name in parent, with all its content; folder is its
// open descriptor. It removes links and never follows them. It first moves nested folders up,
// so that neither depth nor breadth costs descriptors. own means that files may belong to this
// user. Then removal needs modes that root does not need.
func removeFolder(parent *os.File, name string, folder *os.File, own bool) error {
	r := remover{top: folder, own: own}
	if err := r.empty(); err != nil {
		return fmt.Errorf("empty the folder %s: %w", name, err)
	}
	if err := unix.Unlinkat(int(parent.Fd()), name, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove the folder %s: %w", name, err)
	}
	return nil
}

// remover empties one folder.
type remover struct {
	top   *os.File
	own   bool
	moved int
	// seen counts the entries so far.
	seen int
}

// errBusy ends a removal that would never finish.
var errBusy = errors.New("it is written into while it is emptied")

func (r *remover) empty() error {
	for {
		names, err := r.read(r.top)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := r.remove(name); err != nil {
				return fmt.Errorf("remove %q: %w", name, err)
			}
		}
	}
}

// read reads a batch of names from the beginning.
func (r *remover) read(folder *os.File) ([]string, error) {
	if _, err := folder.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := folder.Readdirnames(batch)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if r.seen += len(names); r.seen > maxEntries {
		return nil, errBusy
	}
	return names, err
}

// remove removes an entry of the top folder. It removes the content of a folder, or moves it
// up.
func (r *remover) remove(name string) error {
	err := unlink(r.top, name)
	if !isFolder(err) {
		return err
	}
	folder, err := r.enter(r.top, name)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := r.clear(folder); err != nil {
		return err
	}
	err = unix.Unlinkat(int(r.top.Fd()), name, unix.AT_REMOVEDIR)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTEMPTY) {
		return nil // the next pass sees
	}
	return err
}

// clear removes the files in a nested folder, and moves its folders up.
func (r *remover) clear(folder *os.File) error {
	for {
		names, err := r.read(folder)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			err := unlink(folder, name)
			if isFolder(err) {
				err = r.moveUp(folder, name)
			}
			if err != nil {
				return fmt.Errorf("remove %q: %w", name, err)
			}
		}
	}
}

// enter opens a folder so that its entries can be removed.
func (r *remover) enter(in *os.File, name string) (*os.File, error) {
	folder, err := openIn(in, name)
	if r.own && errors.Is(err, unix.EACCES) {
		if err := allow(in, name); err != nil {
			return nil, err
		}
		folder, err = openIn(in, name)
	}
	if err != nil || !r.own {
		return folder, err
	}
	if err := folder.Chmod(0o700); err != nil {
		_ = folder.Close()
		return nil, err
	}
	return folder, nil
}

// moveUp moves a nested folder into the top folder, under a free name.
func (r *remover) moveUp(from *os.File, name string) error {
	for {
		r.moved++
		fresh := "moved-" + strconv.Itoa(r.moved)
		err := unix.Renameat(int(from.Fd()), name, int(r.top.Fd()), fresh)
		switch {
		case errors.Is(err, unix.ENOENT):
			return nil
		case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTDIR):
			continue // the run used that name itself
		case r.own && errors.Is(err, unix.EACCES):
			// A folder that moves must be writable, because its parent is an entry of it.
			if err := allow(from, name); err != nil {
				return err
			}
			err = unix.Renameat(int(from.Fd()), name, int(r.top.Fd()), fresh)
		}
		return err
	}
}

func unlink(in *os.File, name string) error {
	err := unix.Unlinkat(int(in.Fd()), name, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// isFolder reports that an entry was not removed because it is a folder: EISDIR on Linux, EPERM
// by POSIX.
func isFolder(err error) bool { return errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) }
