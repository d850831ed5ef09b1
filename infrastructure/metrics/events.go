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

func newEvents(r prometheus.Registerer) events {
	m := events{
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ps_outbox_dropped_total",
			Help: "Events that were deleted unread, because too many waited for a reader. Alert on any.",
		}, []string{"reader"}),
		copies: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ps_event_copies_dropped_total",
			Help: "Best-effort events, such as those of successes, that Kafka did not take in time.",
		}),
		spans: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ps_trace_spans_dropped_total",
			Help: "Spans of attempts that the collector of traces did not take in time.",
		}),
	}
	for _, reader := range []entity.EventReader{entity.ReaderRules, entity.ReaderKafka} {
		m.dropped.WithLabelValues(string(reader)) // the first event is an increase, then
	}
	r.MustRegister(m.dropped, m.copies, m.spans)
	return m
}

// OutboxDropped counts events that were deleted before a reader read them.
func (m events) OutboxDropped(reader string, events int) {
	m.dropped.WithLabelValues(reader).Add(float64(events))
}

// CopiesDropped counts best-effort events that were not sent.
func (m events) CopiesDropped(events int) { m.copies.Add(float64(events)) }

// SpansDropped counts spans of attempts that were not sent.
func (m events) SpansDropped(spans int) { m.spans.Add(float64(spans)) }
