package monitoring

import (
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// Digests is the event.EndObserver that packs ends for the fold. Safe for concurrent
// use.
type Digests struct{ logger *slog.Logger }

// NewDigests wires the parts.
func NewDigests(logger *slog.Logger) *Digests { return &Digests{logger} }

// Ended implements event.EndObserver.
func (d *Digests) Ended(ended []*entity.Execution, now time.Time) event.EndRows {
	digests, leftOut := statistics.Encode(ended, now)
	if leftOut > 0 {
		d.logger.Error("ends of executions are missing in the statistics: they are not final, or their job has no UUID",
			"ends", leftOut, "of", len(ended))
	}
	return event.EndRows{Digests: digests}
}
