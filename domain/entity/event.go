package entity

import "time"

// Event is a fact that must reach its readers at least once; it is written in
// the transaction that makes it true (engine rule 24). ID is computed, so that
// consumers can deduplicate.
type Event struct {
	// Seq is the place in the outbox, ascending; 0 before it is there.
	Seq   int64
	ID    string
	Topic string
	// Key orders: events with the same key reach a reader in order of insertion.
	Key  string
	Type string
	// Payload is a JSON object.
	Payload    string
	CreateTime time.Time
	// Readers are those who have not read it yet. One without readers is not stored.
	Readers EventReaders
}

// EventReaders are readers of the outbox.
type EventReaders struct {
	// Rules are the rules of alerting; Kafka is the relay to the brokers.
	Rules, Kafka bool
}

// Nobody reports that there is no reader.
func (r EventReaders) Nobody() bool { return !r.Rules && !r.Kafka }

// EventReader names one reader of the outbox.
type EventReader string

// The readers of the outbox.
const (
	ReaderRules EventReader = "rules"
	ReaderKafka EventReader = "kafka"
)

// The topics of the contract, under the default of kafka.topicPrefix.
const (
	TopicExecutions = "scheduler.executions"
	TopicJobs       = "scheduler.jobs"
	TopicAlerts     = "scheduler.alerts"
	TopicMetrics    = "scheduler.metrics"
)

// Topics are all topics of the contract.
func Topics() []string { return []string{TopicExecutions, TopicJobs, TopicAlerts, TopicMetrics} }
