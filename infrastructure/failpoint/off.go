//go:build !failpoints

package failpoint

import (
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Hit marks the point "tx.step". In this build it does nothing.
func Hit(_, _ string) error { return nil }

// Clock returns the clock of the machine.
func Clock(machine clock.Clock) clock.Clock { return machine }

// Handlers returns none in this build.
func Handlers() map[string]sdk.Handler { return nil }
