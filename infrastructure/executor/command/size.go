package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// lookEvery is the time between two looks at the size of a working folder.
const lookEvery = 2 * time.Second

// maxFiles bounds the files of a working folder: what holds more is too large,
// whatever their size, and a look at it would cost too much.
const maxFiles = 200_000

// tooLarge is the cause with which a run is stopped whose folder outgrew its
// bound.
type tooLarge struct{ text string }

// Error implements error.
func (e *tooLarge) Error() string { return e.text }

// errEnough ends a walk that has seen enough.
var errEnough = errors.New("enough")

// sizeOf adds up what the files below a folder take on the disk, until that is
// more than limit. Files that vanish meanwhile count nothing; links are not
// followed.
func sizeOf(dir string, limit int64) (bytes int64, files int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not counted
		}
		if info, err := d.Info(); err == nil {
			bytes += allocated(info)
		}
		if files++; bytes > limit || files > maxFiles {
			return errEnough
		}
		return nil
	})
	return bytes, files
}

// guardSize stops ctx with *tooLarge when the folder outgrows so many bytes.
// The returned function ends the looks and the folder's last one is its own:
// what fills a disk within two seconds is bounded by the limit on one file.
func guardSize(ctx context.Context, c clock.Clock, dir string, limit int64) (bounded context.Context, end func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	if limit <= 0 {
		return bounded, func() { cancel(context.Canceled) }
	}
	done := make(chan struct{})
	timer := c.NewTimer(lookEvery)
	go func() {
		defer close(done)
		defer timer.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-timer.C():
			}
			switch bytes, files := sizeOf(dir, limit); {
			case bytes > limit:
				cancel(&tooLarge{fmt.Sprintf("its working folder grew over %d MiB; write elsewhere, or raise executor.command.folderMb", limit>>20)})
			case files > maxFiles:
				cancel(&tooLarge{fmt.Sprintf("its working folder holds more than %d files", maxFiles)})
			}
			timer.Reset(lookEvery)
		}
	}()
	return bounded, func() {
		cancel(context.Canceled)
		<-done
	}
}

// removeFolder removes a working folder, also one whose owner made parts of it
// unreadable.
func removeFolder(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a folder must be entered to be emptied
		}
		return nil
	})
	return os.RemoveAll(dir)
}
