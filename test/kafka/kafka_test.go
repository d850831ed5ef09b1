// Package kafka_test lets a scheduler publish to a real Kafka, and disturbs that.
package kafka_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
)

var (
	faults = flag.Bool("kafka.faults", false, "kill, freeze and start brokers late: about two minutes")
	away   = flag.Duration("kafka.away", 30*time.Second, "how long the broker is away at the end")
)

// within bounds the wait for something that must happen.
const within = 60 * time.Second

// executor fails each run of the class "fails".
type executor struct{}

func (executor) Run(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	if run.Job.Class == "fails" {
		return entity.Failed(entity.ReasonError, "as it should")
	}
	return entity.Succeeded("done")
}

func (executor) Check(*entity.Job) []apperror.Field { return nil }
func (executor) Handlers() []string                 { return []string{"fails", "works"} }
func (executor) CommandSlots() int                  { return 0 }

// ledger notes, outside of the store, how executions ended.
type ledger struct {
	mu   sync.Mutex
	ends map[entity.Status][]string
}

func (l *ledger) note(_ *entity.Job, exec *entity.Execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprintf("%s:%d:%s", exec.ID, exec.Attempt, exec.Status)
	l.ends[exec.Status] = append(l.ends[exec.Status], id)
}

func (l *ledger) of(s entity.Status) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.ends[s]...)
}

// stage is a scheduler whose jobs end several times a second.
type stage struct {
	*app.Engine
	t      *testing.T
	kafka  config.Kafka
	ledger *ledger
	jobs   []string
	edited string
}

func start(t *testing.T, brokers config.Kafka) *stage {
	t.Helper()
	s := idle(t, brokers, clock.NewSystem())
	for _, class := range []string{"fails", "works"} {
		for i := range 2 {
			s.jobs = append(s.jobs, s.create(fmt.Sprint(class, i), class, 100*time.Millisecond))
		}
	}
	s.edited = s.create("edited", "works", time.Hour)
	return s
}

// idle is a scheduler without jobs.
func idle(t *testing.T, brokers config.Kafka, c clock.Clock) *stage {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "5", "node.id": "node-1",
		"monitoring.collectIntervalSec": "5",
		"kafka.brokers":                 brokers.Brokers[0], "kafka.topicPrefix": brokers.TopicPrefix,
		"kafka.tls": strconv.FormatBool(brokers.TLS), "kafka.sasl.mechanism": brokers.SASL.Mechanism,
		"kafka.sasl.username": brokers.SASL.Username, "kafka.sasl.password": brokers.SASL.Password,
	}})
	require.NoError(t, err)
	s := &stage{t: t, kafka: brokers, ledger: &ledger{ends: map[entity.Status][]string{}}}
	s.Engine, err = app.NewEngine(t.Context(), cfg, app.Options{
		Executor: executor{}, Observer: s.ledger.note, Logger: slog.New(slog.DiscardHandler), Clock: c,
	})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		began := time.Now()
		require.NoError(t, s.Stop(context.Background()))
		require.Less(t, time.Since(began), 20*time.Second, "brokers do not hold up the stop")
	})
	return s
}

func (s *stage) create(name, class string, interval time.Duration) string {
	s.t.Helper()
	j := validation.NewJob("UTC")
	j.Name, j.Type, j.Class, j.Data = name, entity.JobCustom, class, "{}"
	j.Schedule = schedule.Spec{
		Kind: schedule.FixedRate, TimeZone: "UTC", IntervalMs: interval.Milliseconds(),
	}
	validation.Defaults(j, "UTC")
	created, err := s.Jobs.Create(s.t.Context(), j, true)
	require.NoError(s.t, err)
	return created.ID
}

// edit changes a job a few times; each change is an event.
func (s *stage) edit() {
	s.t.Helper()
	for range 5 {
		_, err := s.Jobs.Pause(s.t.Context(), s.edited, entity.Pause{Reason: "a test"})
		require.NoError(s.t, err)
		_, err = s.Jobs.Resume(s.t.Context(), s.edited)
		require.NoError(s.t, err)
	}
}

// settle stops the jobs and waits until the outbox is empty.
func (s *stage) settle() {
	s.t.Helper()
	for _, id := range s.jobs {
		_, err := s.Jobs.Pause(s.t.Context(), id, entity.Pause{})
		require.NoError(s.t, err)
	}
	quiet := 0
	last := -1
	require.Eventually(s.t, func() bool {
		left, err := s.Store.PendingEvents(s.t.Context(), entity.ReaderKafka, 0, 1)
		ends := len(s.ledger.of(entity.StatusFailed)) + len(s.ledger.of(entity.StatusSuccess))
		if err != nil || len(left) > 0 || ends != last {
			quiet, last = 0, ends
			return false
		}
		quiet++
		return quiet > 10
	}, within, 100*time.Millisecond, "the outbox becomes empty")
}

// held is what a topic holds.
type held struct {
	// times is how often each event is there; order is their first times, by key.
	times map[string]int
	order map[string][]kafkago.Message
}

func (s *stage) read(topic string) held {
	s.t.Helper()
	all, err := kafkatest.ReadAll(s.t.Context(), s.kafka, topic)
	require.NoError(s.t, err)
	h := held{times: map[string]int{}, order: map[string][]kafkago.Message{}}
	for _, m := range all {
		var value struct{ EventID string }
		require.NoError(s.t, json.Unmarshal(m.Value, &value))
		if h.times[value.EventID]++; h.times[value.EventID] == 1 {
			h.order[string(m.Key)] = append(h.order[string(m.Key)], m)
		}
	}
	return h
}

// check compares the topics with what happened: nothing is lost, nothing comes more often
// than faults allow, and the changes of a job are in order.
func (s *stage) check(most int) {
	s.t.Helper()
	executions := s.read("executions")
	failed := s.ledger.of(entity.StatusFailed)
	require.NotEmpty(s.t, failed)
	double := 0
	for _, id := range failed {
		n := executions.times[id]
		require.GreaterOrEqual(s.t, n, 1, "%s is lost", id)
		require.LessOrEqual(s.t, n, most, "%s", id)
		if n > 1 {
			double++
		}
	}
	jobs := s.read("jobs")
	version := 0
	for _, m := range jobs.order[s.edited] {
		var value struct{ Data struct{ Version int } }
		require.NoError(s.t, json.Unmarshal(m.Value, &value))
		version++
		require.Equal(s.t, version, value.Data.Version, "in order, and none is missing")
	}
	now, err := s.Jobs.Get(s.t.Context(), s.edited)
	require.NoError(s.t, err)
	require.Equal(s.t, now.Version, version)
	s.t.Logf("%d failures, %d of them more than once; %d changes of a job", len(failed), double, version)
}

// While all is well, each end and each change of a job is there once, soon.
func TestEndsAndChangesReachKafka(t *testing.T) {
	s := start(t, kafkatest.Config(t))
	s.edit()
	require.Eventually(t, func() bool { return len(s.ledger.of(entity.StatusFailed)) > 40 }, within, 10*time.Millisecond)
	s.settle()
	s.check(1)
	require.Eventually(t, func() bool {
		executions := s.read("executions")
		for _, id := range s.ledger.of(entity.StatusSuccess) {
			if executions.times[id] != 1 {
				return false
			}
		}
		return true
	}, within, time.Second, "successes, too")
	require.Empty(t, s.Degraded(t.Context()))
}

// Each minute a node tells its figures, under its id.
func TestFiguresReachKafka(t *testing.T) {
	wall := clocktest.NewShifted()
	s := idle(t, kafkatest.Config(t), wall)
	require.Eventually(t, func() bool {
		wall.Jump(time.Minute) // a collection is a minute; who waits for two of them waits long
		all, err := kafkatest.ReadAll(t.Context(), s.kafka, "metrics")
		if err != nil || len(all) == 0 {
			return false
		}
		require.Equal(t, "node-1", string(all[0].Key))
		var value struct {
			Type, NodeID string
			Data         struct {
				NodeID string
				Series []struct {
					Name  string
					Value float64
				}
			}
		}
		require.NoError(t, json.Unmarshal(all[0].Value, &value))
		require.Equal(t, "metrics.collected", value.Type)
		require.Equal(t, "node-1", value.Data.NodeID)
		for _, reading := range value.Data.Series {
			if reading.Name == "node.slots" {
				require.Positive(t, reading.Value)
				return true
			}
		}
		return false
	}, within, time.Second)
}

// Whatever happens to the brokers, nothing is lost, and the scheduler goes on.
func TestBrokersThatFailLoseNothing(t *testing.T) {
	if !*faults {
		t.Log("NOT TESTED here: brokers that fail, see make kafka-faults")
		return
	}
	b := newBroker(t)
	b.kill() // its port is known; it is away from the start
	s := start(t, kafkatest.At(b.addr))
	count := 0
	during := func(name string, wait time.Duration) {
		t.Helper()
		count++
		before := len(s.ledger.of(entity.StatusFailed))
		s.edit()
		for began := time.Now(); time.Since(began) < wait; time.Sleep(200 * time.Millisecond) {
			require.NoError(t, monitor.NotReady(s.Degraded(t.Context())), "%s after %s", name, time.Since(began))
		}
		require.Eventually(t, func() bool {
			return len(s.ledger.of(entity.StatusFailed))-before > int(wait/time.Second)*5
		}, within, 100*time.Millisecond, "runs go on: %s", name)
		found := s.Degraded(t.Context())
		require.NoError(t, monitor.NotReady(found))
		names := ""
		for _, f := range found {
			names += f.Part
		}
		require.Equal(t, "kafka", names, "%s is shown", name)
	}
	healthy := func() {
		t.Helper()
		s.edit()
		require.Eventually(t, func() bool { return len(s.Degraded(t.Context())) == 0 }, within, 100*time.Millisecond)
		time.Sleep(2 * time.Second)
	}
	during("away from the start", 12*time.Second)
	b.up()
	healthy()
	for range 3 {
		b.kill()
		during("kill -9", 8*time.Second)
		b.up()
		healthy()
	}
	b.freeze()
	during("frozen", 25*time.Second)
	b.thaw()
	healthy()
	b.restart()
	count++
	healthy()
	b.kill()
	during("away for long", *away)
	b.up()
	healthy()
	s.settle()
	s.check(1 + count)
}
