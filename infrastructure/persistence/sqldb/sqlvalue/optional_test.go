package sqlvalue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

func TestAnOptionalTextIsReadFromWhatDriversGive(t *testing.T) {
	for name, c := range map[string]struct {
		given any
		want  sqlvalue.OptionalText
	}{
		"NULL":            {nil, ""},
		"text of SQLite":  {"a", "a"},
		"bytes of MySQL":  {[]byte("a"), "a"},
		"the empty text":  {"", ""},
		"the empty bytes": {[]byte{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := sqlvalue.OptionalText("of the row before")
			require.NoError(t, text.Scan(c.given))
			require.Equal(t, c.want, text)
		})
	}
	require.Error(t, new(sqlvalue.OptionalText).Scan(int64(1)))
}
