//go:build !linux

// Package boottime measures time that passes; see the file for Linux.
package boottime

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Of returns c's monotonic time, because this system does not tell how long it slept.
func Of(c clock.Clock) func() time.Duration { return c.Monotonic }
