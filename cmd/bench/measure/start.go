package measure

// StartEvent is one handler entry. It holds no pointers: what is kept of a bench
// must not burden the collector of the program that it watches.
type StartEvent struct {
	// ScheduledTime is the fire's in ms, At the entry in µs since the epoch.
	ScheduledTime, At int64
	Job               uint32
	// Recorded is when the run's record was made, Taken when a node took it, in ms after the
	// scheduled time. A direct start is both at once.
	Recorded, Taken uint32
	Attempt         uint8
	// Node is the number of the process, 0 where there is one.
	Node uint8
	Long bool
}
