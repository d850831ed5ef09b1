package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// servers are the instruments of calls to Redis, to the locks and to the brokers.
type servers struct {
	locks     *prometheus.CounterVec
	redis     *prometheus.HistogramVec
	redisGood prometheus.Observer
	redisBad  prometheus.Observer
	kafka     *prometheus.CounterVec
	kafkaTook prometheus.Histogram
	// evaluated is in ms of Unix time; 0 is never.
	evaluated  *atomic.Int64
	deliveries *prometheus.CounterVec
	delay      *prometheus.HistogramVec
	// dead counts notifications that are given up.
	dead *prometheus.CounterVec
}

// callBuckets are in seconds.
func callBuckets() []float64 {
	return []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5}
}

func newServers(m maker) servers {
	s := servers{
		locks: m.counters("ps_lock_calls_total",
			"Calls of the locks, by where they are (store, redis), by operation, and by result: granted, refused, error.",
			[]string{"locker", "operation", "result"}),
		redis: m.histograms(native("ps_redis_call_duration_seconds", "Time of calls of Redis, by result.", callBuckets()),
			"result"),
		kafka: m.counters("ps_kafka_events_total",
			"Events of the outbox that were given to the brokers, by topic, and by result: taken, or failed (they wait).",
			[]string{"topic", "result"}),
		kafkaTook: m.histogram(native("ps_kafka_publish_duration_seconds",
			"Time in which the brokers answered to a batch of events of the outbox.", callBuckets())),
		evaluated: &atomic.Int64{},
		deliveries: m.counters("ps_deliveries_total",
			"Attempts to send a notification, by type of channel, and by result: SENT, REFUSED, FAILED, UNKNOWN.",
			[]string{"channel", "result"}),
		delay: m.histograms(native("ps_notification_delay_seconds",
			"After how long a notification was sent that was due, by type of channel.", latenessBuckets()), "channel"),
		dead: m.counters("ps_notifications_dead_total",
			"Notifications that were refused, or could not be sent within a day, by type of channel.", []string{"channel"}),
	}
	s.redisGood, s.redisBad = s.redis.WithLabelValues("ok"), s.redis.WithLabelValues("error")
	m.figures(func(gauge, _ show) {
		if at := s.evaluated.Load(); at != 0 { // 0 would be the year 1970
			gauge("ps_rules_last_evaluation_timestamp_seconds", float64(at)/1000)
		}
	}, figure{
		"ps_rules_last_evaluation_timestamp_seconds",
		"When the rules of alerting were last evaluated by this node; none where it never led.", nil,
	})
	return s
}

// LockCall returns what counts the calls of a locker: store or redis; see lock.Note.
func (s servers) LockCall(locker string) func(operation string, granted bool, err error) {
	return func(operation string, granted bool, err error) {
		result := "granted"
		switch {
		case err != nil:
			result = "error"
		case !granted:
			result = "refused"
		}
		s.locks.WithLabelValues(locker, operation, result).Inc()
	}
}

// RedisCall observes one call of Redis.
func (s servers) RedisCall(took time.Duration, err error) {
	if err != nil {
		s.redisBad.Observe(took.Seconds())
		return
	}
	s.redisGood.Observe(took.Seconds())
}

// Published observes events of the outbox that were given to the brokers in one call. taken and failed count them by
// topic.
func (s servers) Published(taken, failed map[string]int, took time.Duration) {
	for topic, n := range taken {
		s.kafka.WithLabelValues(topic, "taken").Add(float64(n))
	}
	for topic, n := range failed {
		s.kafka.WithLabelValues(topic, "failed").Add(float64(n))
	}
	s.kafkaTook.Observe(took.Seconds())
}

// Evaluated notes that the rules of alerting were evaluated.
func (s servers) Evaluated(at time.Time) { s.evaluated.Store(at.UnixMilli()) }

// Delivered counts an attempt to send a notification through a channel of a type.
func (s servers) Delivered(channel, result string) {
	s.deliveries.WithLabelValues(channel, result).Inc()
}

// NotificationDelay observes after how long a notification was sent that was due.
func (s servers) NotificationDelay(channel string, d time.Duration) {
	s.delay.WithLabelValues(channel).Observe(d.Seconds())
}

// NotificationDead counts a notification that is given up.
func (s servers) NotificationDead(channel string) { s.dead.WithLabelValues(channel).Inc() }
