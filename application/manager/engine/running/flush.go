package running

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// flushInterval is how often the log of runs that still run is stored.
const flushInterval = 500 * time.Millisecond

func (t *TaskManager) flushLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(flushInterval)
	defer timer.Stop()
	trouble := faillog.OfTask("flush-logs", t.Clock, t.Logger)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		err := t.FlushLogs(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Observe(err)
		timer.Reset(flushInterval)
	}
}

// FlushLogs stores what the runs of this node have said since the last call, see
// logbuffer.Flush.
func (t *TaskManager) FlushLogs(ctx context.Context) error {
	t.mu.Lock()
	buffers := make([]*logbuffer.Buffer, 0, len(t.runs))
	for _, a := range t.runs {
		buffers = append(buffers, a.Buffer)
	}
	t.mu.Unlock()
	return logbuffer.Flush(ctx, t.Store, buffers)
}
