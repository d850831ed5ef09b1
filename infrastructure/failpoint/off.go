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

// StoreNow returns the expression for the time of the store's server as it is.
func StoreNow(expression string) string { return expression }

// Handlers returns none in this build.
func Handlers() map[string]sdk.Handler { return nil }
