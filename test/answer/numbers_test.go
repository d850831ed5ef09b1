package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// Each number is about the whole server. Were one in the list of values that the store refuses, a row would be to blame
// for it at once: its fire would be left out, or its end stored without its texts.
func TestNoNumberBlamesARow(t *testing.T) {
	store := dialect.NewMySQL(false)
	for _, n := range answer.Numbers() {
		require.Contains(t, []dialect.Kind{dialect.Unknown, dialect.Away}, store.Kind(n.Err()), "%d %s", n.Number, n.Text)
	}
}
