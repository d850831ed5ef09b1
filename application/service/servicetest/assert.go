package servicetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// RequireKind requires an error of a kind.
func RequireKind(t *testing.T, kind apperror.Kind, err error) {
	t.Helper()
	require.True(t, apperror.Is(err, kind), "want kind %d, got %v", kind, err)
}

// RequireCode requires an error of a kind with a code.
func RequireCode(t *testing.T, err error, kind apperror.Kind, code string) {
	t.Helper()
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, []any{kind, code}, []any{f.Kind, f.Code})
}
