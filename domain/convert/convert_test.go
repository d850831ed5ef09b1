package convert_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

func TestAllKeepsTheOrder(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"3", "1"}, convert.All([]int{3, 1}, strconv.Itoa))
	require.Equal(t, []string{}, convert.All[int](nil, strconv.Itoa), "none are an empty list")
}
