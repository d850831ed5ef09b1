package alerting

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// maxDryRuns is how many dry runs a node does at once: each reads much.
const maxDryRuns = 2

// DryRunService bounds the dry runs of a node. Safe for concurrent use.
type DryRunService struct {
	runner *dryrun.Runner
	places chan struct{}
}

// NewDryRunService wires the parts.
func NewDryRunService(runner *dryrun.Runner) *DryRunService {
	return &DryRunService{runner, make(chan struct{}, maxDryRuns)}
}

// DryRun says what a valid rule would have raised in [from, to). It is
// apperror.KindTooMany while there are too many others.
func (s *DryRunService) DryRun(ctx context.Context, rule *alert.Rule, from, to time.Time) (*dryrun.Report, error) {
	select {
	case s.places <- struct{}{}:
	default:
		return nil, apperror.New(apperror.KindTooMany, "busy", "others do dry runs now; try again in a moment")
	}
	defer func() { <-s.places }()
	return s.runner.DryRun(ctx, rule, from, to)
}
