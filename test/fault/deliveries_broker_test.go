package fault_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// makeTopics makes the topic of alerts before the nodes do. Its messages bear the time at which the broker has taken
// them: that is a clock outside of the nodes.
func (s *stage) makeTopics() {
	s.t.Helper()
	s.kafka = kafkatest.At(s.server.Kafka)
	client := &kafkago.Client{Addr: kafkago.TCP(s.server.Kafka), Timeout: 10 * time.Second}
	name := s.kafka.TopicPrefix + ".alerts"
	require.Eventually(s.t, func() bool {
		answer, err := client.CreateTopics(s.t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{{
			Topic: name, NumPartitions: 4, ReplicationFactor: 1,
			ConfigEntries: []kafkago.ConfigEntry{{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"}},
		}}})
		return err == nil && answer.Errors[name] == nil
	}, time.Minute, 200*time.Millisecond, "the broker makes a topic")
}

// disturbBroker does one thing to the broker or to those who read from it, and mends it.
func (p *post) disturbBroker(kind string) {
	switch kind {
	case stopBroker:
		require.NoError(p.t, p.server.StopBroker(p.t.Context()))
		require.NoError(p.t, p.server.Up(p.t.Context()))
	case brokerAway:
		require.NoError(p.t, p.server.KillBroker(p.t.Context()))
		rig.Sleep(p.t.Context(), 20*time.Second)
		require.NoError(p.t, p.server.Up(p.t.Context()))
	case rebalance:
		stranger := kafkago.NewReader(kafkago.ReaderConfig{
			Brokers: p.kafka.Brokers, GroupID: p.kafka.TopicPrefix + ".notifiers",
			GroupTopics: []string{p.kafka.TopicPrefix + ".alerts"}, MaxWait: 100 * time.Millisecond,
		})
		ctx, cancel := context.WithCancel(p.t.Context())
		done := make(chan int64)
		go func() { // it takes what would wake a node
			n := int64(0)
			for ctx.Err() == nil {
				if _, err := stranger.ReadMessage(ctx); err == nil {
					n++
				}
			}
			done <- n
		}()
		joined := int64(0)
		require.Eventually(p.t, func() bool {
			joined += stranger.Stats().Rebalances
			return joined > 0
		}, 30*time.Second, 100*time.Millisecond, "the stranger is a member")
		rig.Sleep(p.t.Context(), p.span(2))
		cancel()
		p.t.Logf("the stranger was given %d messages", <-done)
		require.NoError(p.t, stranger.Close())
	}
}

// note keeps a fault for the checks whose answers or results it may cost. A fault of receivers and brokers must not
// delay fires: each job is called at least half as often as it is due. Where the store's clock was set back, the next
// fires are due when it shows that time again.
func (p *post) note(f delivery.Fault) {
	receivers := slices.Contains([]string{hookDown, hookFails, hookBusy, hookSlow}, f.Kind)
	brokers := slices.Contains([]string{killBroker, stopBroker, brokerAway, rebalance}, f.Kind)
	if !brokers && f.Kind != hookFails && f.Kind != hookBusy { // those lose neither an answer nor a result
		p.faults = append(p.faults, f)
	}
	if !receivers {
		p.copyFaults = append(p.copyFaults, f)
	}
	if !receivers && !brokers || p.repeats.After(f.From) {
		return
	}
	due := int(f.Until.Sub(f.From) / time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, calls := range p.calls {
		if !strings.HasPrefix(path, "/turn/") {
			continue
		}
		n := 0
		for _, at := range calls {
			if !at.Before(f.From) && !at.After(f.Until) {
				n++
			}
		}
		if n < due/2 {
			p.t.Errorf("%s: %s was called %d times, and was due %d times", f.Kind, path, n, due)
		}
	}
}

// copies reads the topic of alerts, and what the store says of all alerts: of a moment at which
// no copy is owed. An alert may begin at any time, as rules look at levels, too.
func (p *post) copies(h *delivery.History) {
	require.Eventually(p.t, func() bool {
		h.Changed = p.changed()
		if p.count("SELECT COUNT(*) FROM scheduler_outbox WHERE for_kafka = 1") > 0 {
			return false
		}
		h.Copies = p.topic()
		return slices.Equal(h.Changed, p.changed())
	}, time.Minute, 200*time.Millisecond, "no alert changes while the topic is read")
}

// topic reads all copies of changes of alerts.
func (p *post) topic() (copies []delivery.Copy) {
	all, err := kafkatest.ReadAll(p.t.Context(), p.kafka, "alerts")
	require.NoError(p.t, err)
	for _, m := range all {
		var value struct {
			EventID string
			Data    struct {
				ID, Fingerprint, Status string
				Seq                     int
			}
		}
		require.NoError(p.t, json.Unmarshal(m.Value, &value))
		copies = append(copies, delivery.Copy{
			ID: value.EventID, Key: string(m.Key), At: m.Time, Alert: value.Data.ID, Fingerprint: value.Data.Fingerprint,
			Status: value.Data.Status, Seq: value.Data.Seq,
		})
	}
	return copies
}

// changed reads how often each alert has changed.
func (p *post) changed() (alerts []delivery.Changed) {
	p.each("SELECT id, fingerprint, status, seq FROM scheduler_alert ORDER BY id", func(rows *sql.Rows) error {
		var a delivery.Changed
		err := rows.Scan(&a.Alert, &a.Fingerprint, &a.Status, &a.Seq)
		alerts = append(alerts, a)
		return err
	})
	return alerts
}
