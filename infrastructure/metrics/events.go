package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// events are the instruments of what leaves the node for brokers.
type events struct {
	dropped *prometheus.CounterVec
	copies  prometheus.Counter
	spans   prometheus.Counter
}

func newEvents(m maker) events {
	return events{
		dropped: m.counters("ps_outbox_dropped_total",
			"Events that were deleted unread, because too many waited for a reader. Alert on any.", []string{"reader"},
			string(entity.ReaderRules), string(entity.ReaderKafka)),
		copies: m.counter("ps_event_copies_dropped_total",
			"Best-effort events, such as those of successes, that Kafka did not take in time."),
		spans: m.counter("ps_trace_spans_dropped_total",
			"Spans of attempts that the collector of traces did not take in time."),
	}
}

// OutboxDropped counts events that were deleted before a reader read them.
func (m events) OutboxDropped(reader string, events int) {
	m.dropped.WithLabelValues(reader).Add(float64(events))
}

// CopiesDropped counts best-effort events that were not sent.
func (m events) CopiesDropped(events int) { m.copies.Add(float64(events)) }

// SpansDropped counts spans of attempts that were not sent.
func (m events) SpansDropped(spans int) { m.spans.Add(float64(spans)) }
