package command

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
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

// guardSize stops ctx with *tooLarge when the folder outgrows so many bytes.
// The returned function ends the looks and the folder's last one is its own:
// what fills a disk within two seconds is bounded by the limit on one file.
func guardSize(ctx context.Context, c clock.Clock, folder *workfolder.Folder, limit int64) (bounded context.Context, end func()) {
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
			switch use := folder.Use(limit, maxFiles); {
			case use.Bytes > limit:
				cancel(&tooLarge{fmt.Sprintf("its working folder grew over %d MiB; write elsewhere, or raise executor.command.folderMb", limit>>20)})
			case use.Files > maxFiles:
				cancel(&tooLarge{fmt.Sprintf("its working folder holds more than %d files and folders", maxFiles)})
			case use.TooDeep:
				cancel(&tooLarge{fmt.Sprintf("its working folder holds folders nested more than %d deep", workfolder.MaxDepth)})
			}
			timer.Reset(lookEvery)
		}
	}()
	return bounded, func() {
		cancel(context.Canceled)
		<-done
	}
}
