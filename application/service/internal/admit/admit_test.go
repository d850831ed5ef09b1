package admit_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// A user has a share of a node, and each refusal is told and says when to come again.
func TestAUserHasAShareOfANode(t *testing.T) {
	refused := 0
	g := admit.New(admit.Bounds{What: "dry runs", Code: "busy", User: 2, Node: 3, Refused: func() { refused++ }})
	enter := func(user string) func() {
		leave, err := g.Enter(user)
		require.NoError(t, err)
		return leave
	}
	refuse := func(user, why string) {
		_, err := g.Enter(user)
		require.ErrorContains(t, err, why)
		var f *apperror.Error
		require.True(t, errors.As(err, &f))
		require.Equal(t, apperror.KindTooMany, f.Kind)
		require.Equal(t, "busy", f.Code)
		require.Positive(t, f.RetryAfterSec)
	}
	first, second := enter("ann"), enter("ann")
	refuse("ann", "you have 2 dry runs under way")
	third := enter("bob")
	refuse("cat", "this node does 3 dry runs already")
	require.Equal(t, 2, refused)
	first()
	first() // leaves once
	enter("cat")
	refuse("dan", "this node")
	second()
	third()
	enter("dan")
	enter("dan")
	refuse("dan", "you have")
}
