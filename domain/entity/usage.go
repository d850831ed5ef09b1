package entity

import "time"

// Usage is what an attempt of a command took of its node. Nothing is known of other attempts: that is the zero value,
// and takes no row.
type Usage struct {
	// CPUMs is the processor time of its process and of those that it waited for, in ms.
	CPUMs int64
	// PeakKb is the most memory in use at once, in KiB: of the run where its control group tells, else of its largest
	// process.
	PeakKb int64
}

// UsageOf is the usage of so much processor time and so many bytes. A negative figure counts as 0, so that a store
// takes every usage.
func UsageOf(cpu time.Duration, bytes int64) Usage {
	return Usage{CPUMs: max(cpu.Milliseconds(), 0), PeakKb: max(bytes>>10, 0)}
}

// AttemptUsage is the usage of one attempt.
type AttemptUsage struct {
	ExecutionID string
	Attempt     int
	Usage
}
