package randtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

func TestASeedRepeatsTheChoices(t *testing.T) {
	t.Setenv(randtest.Variable, "42")
	require.EqualValues(t, 42, randtest.Seed(t))
	one, two := randtest.New(t), randtest.New(t)
	for range 10 {
		require.Equal(t, one.Uint64(), two.Uint64())
	}
}

func TestWithoutASeedTheChoicesAreNew(t *testing.T) {
	t.Setenv(randtest.Variable, "")
	require.NotEqual(t, randtest.New(t).Uint64(), randtest.New(t).Uint64())
}
