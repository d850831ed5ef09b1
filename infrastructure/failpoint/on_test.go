//go:build failpoints

package failpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPointFiresOnceAtItsCount(t *testing.T) {
	p := parse("fire.inserted=kill@2")
	require.False(t, p.hit("fire.locked"), "another point")
	require.False(t, p.hit("fire.inserted"), "first hit")
	require.True(t, p.hit("fire.inserted"), "second hit")
	require.False(t, p.hit("fire.inserted"), "third hit")
}

func TestMalformedSettingsArmNothing(t *testing.T) {
	for _, s := range []string{"", "fire", "fire=kill", "fire=kill@", "fire=kill@0", "fire=kill@x"} {
		require.False(t, parse(s).hit("fire"), s)
	}
}
