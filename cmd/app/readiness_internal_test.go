package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	probes "github.com/platform-scheduler/platform-scheduler/api/controller/cluster"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// A node says which of its tasks and loops is stuck. While one that tells, counts or clears up is stuck, the node stays
// ready; the table in docs/operations.md says which those are.
func TestEachStuckTaskIsNamedAndAnswersAsItsTableSays(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.TestMode)
	answers, limits := documentedAnswers(t), limitsOfTasks(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(answers)), slices.Collect(maps.Keys(limits)),
		"the table of tasks in docs/operations.md")
	for name, limit := range limits {
		n := watchByHand(limits)
		n.turnAllBut("", time.Hour)
		n.requireAnswer(t, http.StatusOK)
		n.turnAllBut(name, limit)
		n.requireAnswer(t, http.StatusOK)
		n.turnAllBut(name, time.Second)
		n.requireAnswer(t, answers[name], fmt.Sprintf("%s has not ticked for %s", name, limit+time.Second))
		n.turnAllBut("", time.Second)
		n.requireAnswer(t, http.StatusOK)
	}
}

// documentedAnswers are the answers of /readyz by the table of docs/operations.md, by task.
func documentedAnswers(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	answers := map[string]int{}
	for row, status := range map[string]int{"503": http.StatusServiceUnavailable, "200, degraded": http.StatusOK} {
		line := regexp.MustCompile(`(?m)^\| ` + row + " \\| (`.*`) \\|$").FindSubmatch(page)
		require.NotNil(t, line, "the row %q of the table of tasks in docs/operations.md", row)
		for name := range strings.SplitSeq(string(line[1]), ", ") {
			name = strings.Trim(name, "`")
			require.NotContains(t, answers, name, "it stands in one row alone")
			answers[name] = status
		}
	}
	return answers
}

// exposed are commands that run as the server's own user.
type exposed struct{}

func (exposed) Prepare()                             {}
func (exposed) Isolation() (metrics.Isolation, bool) { return metrics.Isolation{}, true }
func (exposed) Off() string                          { return "" }
func (exposed) Exposed() bool                        { return true }
func (exposed) Close() error                         { return nil }

// idle runs nothing: its engine is never started.
type idle struct{ Executor }

func (idle) Handlers() []string { return nil }
func (idle) CommandSlots() int  { return 1 }

// limitsOfTasks are the tasks and loops of a node that has every part, with how long each may go without a good turn.
func limitsOfTasks(t *testing.T) map[string]time.Duration {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "node.id": "node-1", "kafka.brokers": "127.0.0.1:1",
		"monitoring.watchdogUrl": "http://127.0.0.1:18099/", "monitoring.weeklyReport.channel": "mails",
	}})
	require.NoError(t, err)
	e, err := NewEngine(t.Context(), cfg, Options{
		Clock: clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), Executor: idle{},
		Processes: exposed{}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	limits := map[string]time.Duration{}
	for _, s := range e.tasks.Statuses() {
		limits[s.Name] = s.Limit
	}
	return limits
}

// handWatched are tasks whose turns the test makes, and the probe that watches them, by a clock of the test.
type handWatched struct {
	clock   *clocktest.Manual
	turns   map[string]func(err error)
	monitor *monitor.MonitorService
}

// answering is a store that answers.
type answering struct{}

func (answering) Ping(context.Context) error { return nil }

func watchByHand(limits map[string]time.Duration) *handWatched {
	n := &handWatched{
		clock: clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		turns: map[string]func(err error){},
	}
	tasks := periodic.NewTasks(n.clock, nil, nil, slog.New(slog.DiscardHandler))
	for name, limit := range limits {
		n.turns[name] = tasks.Watch(name, limit/5) // a task may miss five turns
	}
	n.monitor = monitor.NewMonitorService(answering{}, tasks, n.clock)
	return n
}

// turnAllBut lets time pass, and then all tasks but one have a good turn.
func (n *handWatched) turnAllBut(stuck string, d time.Duration) {
	n.clock.Advance(d)
	for name, turn := range n.turns {
		if name != stuck {
			turn(nil)
		}
	}
}

// requireAnswer asks /readyz, whose parts are those of tasks with the reasons.
func (n *handWatched) requireAnswer(t *testing.T, status int, reasons ...string) {
	t.Helper()
	answer := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(answer)
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	require.NoError(t, probes.NewJobMonitorController(n.monitor, nil, "", vo.Version{}).Readyz(c))
	require.Equal(t, status, answer.Code, reasons)
	var body struct {
		Degraded []struct{ Part, Reason string }
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &body))
	var found []string
	for _, d := range body.Degraded {
		require.Equal(t, monitor.PartTask, d.Part)
		found = append(found, d.Reason)
	}
	require.Equal(t, reasons, found)
}
