package explain

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// StandingOf makes ExplainService.Standing of what another service tells.
func StandingOf(read func(ctx context.Context, runID string) (wf.Run, *workflow.Graph, *wf.State, []*entity.Execution,
	error),
) func(ctx context.Context, runID string) (*Standing, error) {
	return func(ctx context.Context, runID string) (*Standing, error) {
		run, graph, state, rows, err := read(ctx, runID)
		if err != nil {
			return nil, err
		}
		return &Standing{Run: run, Graph: graph, State: state, Rows: rows}, nil
	}
}
