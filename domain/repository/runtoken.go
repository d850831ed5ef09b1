package repository

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// RunTokenReader finds the attempts for which targets report.
type RunTokenReader interface {
	// RunToken returns that of an execution with that hash, of whatever attempt;
	// ok is false where there is none.
	RunToken(ctx context.Context, executionID, hash string) (t entity.RunToken, ok bool, err error)
	// RunTokensOf are those of all attempts of the executions.
	RunTokensOf(ctx context.Context, executionIDs []string) ([]entity.RunToken, error)
}

// RunTokenWriter keeps the tokens of attempts, inside a transaction.
type RunTokenWriter interface {
	RunTokenReader
	// Issue stores a token for each attempt that is still RUNNING under its node, epoch
	// and fencing token. It returns the positions of the others, in ascending order. A
	// token that was kept for the attempt before is replaced. runs and tokens have the
	// same order.
	Issue(ctx context.Context, runs []*entity.Execution, tokens []entity.RunToken) (refused []int, err error)
	// Count writes Lines and Bytes.
	Count(ctx context.Context, t entity.RunToken) error
}
