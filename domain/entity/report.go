package entity

// RunReport is what the target of an asynchronous call says of its run. A
// report without a status is news of a run that goes on.
type RunReport struct {
	// Status is SUCCESS or FAILED for the end, "" before it.
	Status Status
	// Message is the error for people; Result what the run returned.
	Message string
	Result  string
	// NoRetry: repeating is pointless.
	NoRetry bool
	// Progress is 0–100, negative when it was not said.
	Progress int
	// Checkpoint is kept for the next attempt; nil when it was not said.
	Checkpoint *string
	// Lines are added to the run's log.
	Lines []string
}
