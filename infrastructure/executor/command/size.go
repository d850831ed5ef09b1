package command

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
)

// lookEvery is the time between two measurements of a working folder.
const lookEvery = 2 * time.Second

// maxFiles bounds the files of a working folder. A folder with more files is too large,
// whatever their size, and its measurement would cost too much.
const maxFiles = 200_000

// tooLarge is the cause that stops a run whose folder is over its limit.
type tooLarge struct{ text string }

// Error implements error.
func (e *tooLarge) Error() string { return e.text }

// guardSize stops ctx with *tooLarge when the folder holds more bytes than limit. end stops the
// measurements and waits for the last one. Within the two seconds between two measurements, the
// limit on one file bounds what fills the disk.
func guardSize(ctx context.Context, c clock.Clock, folder *workfolder.Folder,
	limit int64,
) (bounded context.Context, end func()) {
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
				cancel(&tooLarge{fmt.Sprintf("its working folder grew over %d MiB; write elsewhere, or raise "+
					"executor.command.folderMb", limit>>20)})
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
