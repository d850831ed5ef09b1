package alerting

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// userDryRuns and nodeDryRuns are how many dry runs a user, and a node, does at once: each reads
// much.
const (
	userDryRuns = 1
	nodeDryRuns = 2
)

// DryRunService bounds the dry runs of a node. Safe for concurrent use.
type DryRunService struct {
	runner *dryrun.Runner
	gate   *admit.Gate
}

// NewDryRunService wires the parts. Refused is told of each call that is refused; nil is nobody.
func NewDryRunService(runner *dryrun.Runner, refused func()) *DryRunService {
	return &DryRunService{runner, admit.New(admit.Bounds{
		What: "dry runs", Code: "busy", User: userDryRuns, Node: nodeDryRuns, Refused: refused,
	})}
}

// DryRun says what a valid rule would have raised in [from, to). It is apperror.KindTooMany while
// the user, or the node, does too many others.
func (s *DryRunService) DryRun(ctx context.Context, userID string, rule *alert.Rule, from, to time.Time) (
	*dryrun.Report, error,
) {
	leave, err := s.gate.Enter(userID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.runner.DryRun(ctx, rule, from, to)
}
