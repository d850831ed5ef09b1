package record

import (
	"context"
	"database/sql"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// RunTokens finds the tokens of targets: repository.RunTokenReader.
type RunTokens struct{ c *sqldb.Conn }

// NewRunTokens gives the repository over the connections of c.
func NewRunTokens(c *sqldb.Conn) *RunTokens { return &RunTokens{c} }

// RunToken implements repository.RunTokenReader.
func (r *RunTokens) RunToken(ctx context.Context, executionID, hash string) (t entity.RunToken, ok bool, err error) {
	if !sqlvalue.IsASCIIID(executionID) {
		return t, false, nil
	}
	return sqldb.First(ctx, r.c, "run-token.get", selectTokens+" WHERE execution_id = ? AND token_hash = ?",
		[]any{executionID, hash}, scanToken)
}

const selectTokens = `SELECT execution_id, attempt, token_hash, secret_names, key_id, sealed, line_count, byte_count,
	create_time FROM scheduler_run_token`

func scanToken(rows *sql.Rows) (t entity.RunToken, err error) {
	var created sqlvalue.DBTime
	var secrets, key sql.NullString
	err = rows.Scan(&t.ExecutionID, &t.Attempt, &t.Hash, &secrets, &key, &t.Sealed, &t.Lines, &t.Bytes, &created)
	t.Secrets, t.KeyID = strings.Fields(secrets.String), key.String
	t.CreateTime = created.Time()
	return t, err
}

// RunTokensOf implements repository.RunTokenReader.
func (r *RunTokens) RunTokensOf(ctx context.Context, executionIDs []string) ([]entity.RunToken, error) {
	return sqldb.CollectIn(ctx, r.c, "run-token.of", selectTokens+" WHERE {in}", "execution_id",
		sqlvalue.OnlyASCIIIDs(executionIDs), scanToken)
}

// runTokenWriter implements repository.RunTokenWriter.
type runTokenWriter struct{ RunTokens }

// NewRunTokenWriter gives the repository inside of the transaction of c.
func NewRunTokenWriter(c *sqldb.Conn) repository.RunTokenWriter { return &runTokenWriter{RunTokens{c}} }

// Issue implements repository.RunTokenWriter.
func (w *runTokenWriter) Issue(ctx context.Context, runs []*entity.Execution,
	tokens []entity.RunToken,
) (refused []int, err error) {
	issue := `INSERT INTO scheduler_run_token (execution_id, attempt, token_hash, secret_names, key_id, sealed, line_count, byte_count, create_time)
		SELECT id, ?, ?, ?, ?, ?, 0, 0, ? FROM scheduler_job_execution` + execution.StillRunning +
		w.c.Dialect.OnDuplicateSet("execution_id, attempt", "token_hash", "secret_names", "key_id", "sealed")
	err = w.c.ExecEach(ctx, "run-token.issue", len(runs), func(i int) (string, []any) {
		x, t := runs[i], tokens[i]
		return issue, []any{
			t.Attempt, t.Hash, sqlvalue.TextOrNull(strings.Join(t.Secrets, " ")),
			sqlvalue.TextOrNull(t.KeyID), t.Sealed, sqlvalue.TimeArg(t.CreateTime), x.ID, x.NodeID, x.Epoch, x.Token,
		}
	}, func(i int, found int64) error {
		if found == 0 {
			refused = append(refused, i)
		}
		return nil
	})
	return refused, err
}

// Count implements repository.RunTokenWriter.
func (w *runTokenWriter) Count(ctx context.Context, t entity.RunToken) error {
	_, err := w.c.Exec(ctx, "run-token.count",
		"UPDATE scheduler_run_token SET line_count = ?, byte_count = ? WHERE execution_id = ? AND attempt = ?",
		t.Lines, t.Bytes, t.ExecutionID, t.Attempt)
	return err
}
