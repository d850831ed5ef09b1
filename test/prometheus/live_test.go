package prometheus_test

import (
	"flag"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/promtest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var live = flag.Bool("prometheus.live", false, "ask each expression of a real Prometheus: three nodes, four minutes")

// patience bounds a wait. Where all goes well none takes more than a minute: old rows are deleted once in that time.
const patience = 3 * time.Minute

// emptyInHealth are the expressions that show nothing while all is well, and the fault that fills them.
func emptyInHealth() map[string]string {
	return map[string]string{"ps-engine: Nodes declared dead: A": "a node is frozen"}
}

// states are what the work and the faults bring about; the figures have to show each of them.
func states() (work, faults map[string]string) {
	work = map[string]string{
		"failures":                  `sum(rate(ps_executions_total{status="FAILED"}[30s]))`,
		"retries":                   `sum(rate(ps_executions_total{status="WAITING"}[30s]))`,
		"retries used up":           `sum(rate(ps_executions_total{status="DEAD"}[30s]))`,
		"time limits":               `sum(rate(ps_executions_total{status="TIMEOUT"}[30s]))`,
		"cancelled runs":            `sum(rate(ps_executions_total{status="CANCELLED"}[30s]))`,
		"skipped fires":             `sum(rate(ps_fires_total{status="SKIPPED"}[30s]))`,
		"dead letters":              `max(ps_dead_letters)`,
		"waits for a moment":        `max(ps_queue_depth{state="parked"})`,
		"waits for a run":           `max(ps_queue_depth{state="queued"})`,
		"waits for a group":         `max(ps_queue_depth{state="grouped"})`,
		"waits for a node":          `max(ps_unplaced_runs{waits_for="NODE"})`,
		"commands":                  `sum(ps_command_running)`,
		"named jobs":                `sum(rate(ps_job_executions_total{job_name="good", status="SUCCESS"}[30s]))`,
		"events in Kafka":           `sum(rate(ps_kafka_events_total{result="taken"}[30s]))`,
		"Redis":                     `min(ps_redis_up)`,
		"alerts":                    `sum(ps_alerts{status="FIRING"})`,
		"a part that is degraded":   `max(ps_degraded)`,
		"an alert of Prometheus":    `count(ALERTS)`,
		"the deletion of old rows":  `count(ps_retention_lag_seconds)`,
		"messages that arrive":      `sum(ps_deliveries_total{result="SENT"})`,
		"messages that are refused": `sum(ps_deliveries_total{result="REFUSED"})`,
		"messages given up":         `sum(ps_notifications_dead_total)`,
		"calls of workers":          `sum(rate(ps_worker_calls_total{call="report", status="200"}[30s]))`,
		"runs of workers":           `sum(rate(ps_job_executions_total{job_name="settled", status="SUCCESS"}[30s]))`,
		"locks":                     `sum(rate(ps_lock_calls_total{result="granted"}[30s]))`,
	}
	faults = map[string]string{
		"runs that wait for a slot": `max(ps_queue_depth{state="ready"})`,
		"a node that drains":        `max(ps_nodes{status="DRAINING"})`,
		"a node that is SUSPECT":    `max(ps_nodes{status="SUSPECT"})`,
		"a node that is DOWN":       `max(ps_nodes{status="DOWN"})`,
		"a death":                   `sum(increase(ps_node_death_seconds_count[30s]))`,
		"a node that stopped":       `sum(increase(ps_fences_total[1m]))`, // of a node that was frozen for 10 s and more
		"runs of a lost node":       `sum(increase(ps_lost_runs_total[30s]))`,
		"Redis away":                `max(1 - ps_redis_up)`,
		"failed calls of Redis":     `sum(histogram_count(rate(ps_redis_call_duration_seconds{result="error"}[30s])))`,
		"a clock that is off":       `max(abs(ps_clock_offset_seconds) > 1)`,
		"an unreachable node":       `max(1 - up{job="platform-scheduler"})`,
	}
	return work, faults
}

// Each expression of each panel and each rule is asked of a real Prometheus, which scrapes a real cluster. In health
// all have data, but for those that emptyInHealth lists, neither more nor less; with the faults these have data, too.
func TestEachExpressionReturnsData(t *testing.T) {
	if !*live {
		return // make prometheus-live asks for it
	}
	c := startCluster(t, 3)
	c.work()
	work, faults := states()
	for what, expr := range work {
		c.prom.await(expr, what, patience)
	}
	listed := emptyInHealth()
	healthy := c.health(t, slices.Sorted(maps.Keys(listed)))

	c.faults(t, faults)
	now := time.Now()
	for _, q := range queries(t) {
		if fault, ok := listed[q.where]; ok {
			require.NotEmpty(t, c.prom.over(q.expr, healthy, now), "%s stays empty although %s: %s", q.where, fault, q.expr)
		}
	}
}

// health waits until exactly the listed expressions are empty over the same 20 s, and returns the end of these. Rates
// need some seconds of what came last. A busy machine takes most of a minute for one pass over all expressions, and a
// node that it keeps from beating is a death that leaves the figures a minute later.
func (c *cluster) health(t *testing.T, listed []string) time.Time {
	t.Helper()
	for began := time.Now(); ; {
		var empty []string
		healthy := time.Now()
		for _, q := range queries(t) {
			if len(c.prom.over(q.expr, healthy.Add(-20*time.Second), healthy)) == 0 {
				empty = append(empty, q.where)
			}
		}
		slices.Sort(empty)
		if slices.Equal(listed, empty) {
			return healthy
		}
		t.Logf("not healthy %s after the work: empty are %q", healthy.Sub(began).Round(time.Second), empty)
		require.Less(t, time.Since(began), patience, "what is empty in health is not what the list says: %q", listed)
	}
}

// faults brings about what health does not show, one after the other, and sees each of them in the figures.
func (c *cluster) faults(t *testing.T, seen map[string]string) {
	t.Helper()
	await := func(what string) {
		t.Helper()
		c.prom.await(seen[what], what, patience)
		delete(seen, what)
	}
	c.overload()
	await("runs that wait for a slot")

	for _, m := range c.rig.Members {
		m.Hints.Set(rig.Cut)
	}
	await("Redis away")
	await("failed calls of Redis")
	for _, m := range c.rig.Members {
		m.Hints.Set(rig.Pass)
	}

	require.NoError(t, c.later(0).StepClock(5*time.Second))
	await("a clock that is off")
	require.NoError(t, c.later(0).StepClock(0))

	c.call("POST", c.node(0)+"/drain", map[string]any{})
	await("a node that drains")
	c.call("POST", c.node(0)+"/resume", map[string]any{})

	c.later(0).Freeze() // until it is declared dead, when its own lease has ended
	await("an unreachable node")
	await("a node that is SUSPECT")
	await("a death")
	await("a node that is DOWN")
	await("runs of a lost node")
	c.later(0).Thaw()
	await("a node that stopped")
	require.Empty(t, seen, "each fault is one of the list")
}

// The way of one figure, from a run to a real Prometheus: native histograms, exemplars that name executions, names of
// jobs behind the token, and the rules.
func TestFiguresReachARealPrometheus(t *testing.T) {
	c := startCluster(t, 1)
	c.job("good", 200, nil)
	c.job("failing", 500, map[string]any{"jobClass": "fail", "jobData": map[string]any{"message": "as it should"}})
	for what, expr := range map[string]string{
		"a native histogram":  `histogram_count(sum(ps_execution_duration_seconds{status="SUCCESS"}))`,
		"a job":               `sum(ps_job_executions_total{job_name="good", status="SUCCESS"})`,
		"a rule":              `ps:executions_failed:ratio5m`,
		"a quantile":          `ps:start_lateness_seconds:p99_5m`,
		"an end":              `sum(rate(ps_executions_total{status="FAILED"}[10s]))`,
		"the host":            `sum(ps_host_memory_limit_bytes)`,
		"an open alert":       `sum(ps_alerts{status="FIRING"})`,
		"the rules of alerts": `max(ps_rules_last_evaluation_timestamp_seconds)`,
	} {
		c.prom.await(expr, what, 40*time.Second)
	}
	page := c.page("Bearer "+metricsToken, http.StatusOK)
	check := exec.CommandContext(t.Context(), promtest.NeedPrometheus(t, "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(page)
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out), "promtool finds nothing on a real page")
	require.NotContains(t, c.page("Bearer another", http.StatusUnauthorized), "ps_")
	require.NotContains(t, c.page("", http.StatusUnauthorized), "ps_")
	ids := map[string]bool{}
	require.Eventually(t, func() bool {
		ids = c.prom.exemplars("ps_execution_duration_seconds_bucket")
		maps.Copy(ids, c.prom.exemplars("ps_execution_duration_seconds"))
		return len(ids) > 0
	}, 20*time.Second, 500*time.Millisecond, "no exemplar has arrived")
	for id := range ids {
		require.NotEmpty(t, c.call("GET", "/api/v1/executions/"+id, nil)["status"], "an exemplar names an execution")
		break
	}
}
