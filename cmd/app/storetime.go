package app

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// storeTime is the machine's clock with the store's time of day. It is for times that
// several nodes store and compare: a step of one node's wall clock must not end sessions
// or drop keys of calls (engine rule 13).
type storeTime struct {
	clock.Clock
	store *storeclock.Clock
}

// Now implements clock.Clock.
func (s storeTime) Now() time.Time { return s.store.Now() }

// StoreTime is the machine's clock with the store's time of day.
func (e *Engine) StoreTime() clock.Clock { return storeTime{e.machine, e.Clock} }
