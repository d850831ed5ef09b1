package fault_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
)

// settled is how long alerts and messages may take after the last fault. A channel that failed five
// times in a row is asked once a minute.
const settled = 150 * time.Second

// quiet heals everything, pauses the jobs, waits until nothing is left to do, and reads what there is.
func (p *post) quiet() delivery.History {
	require.NoError(p.t, p.rig.Heal(p.t.Context()))
	p.base = p.rig.Members[0].Base()
	p.judged()
	p.aged()
	p.paused = time.Now()
	for _, job := range p.jobs {
		p.call("POST", "/api/v1/jobs/"+job+"/pause", map[string]any{})
	}
	left := "?"
	require.Eventually(p.t, func() bool {
		live := p.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE status NOT IN " + final)
		open := p.count("SELECT COUNT(*) FROM scheduler_notification WHERE state = 'OPEN'")
		events := p.count("SELECT COUNT(*) FROM scheduler_outbox WHERE for_rules = 1 OR for_kafka = 1")
		due := p.count("SELECT COUNT(*) FROM scheduler_alert WHERE notify_due IS NOT NULL AND notify_due <= UTC_TIMESTAMP(3)")
		left = fmt.Sprint(live, " live runs, ", open, " open messages, ", events, " events, ", due, " alerts to plan")
		return live+open+events+due == 0
	}, settled, 200*time.Millisecond, "it becomes quiet")
	p.t.Log("quiet: ", left)
	for _, m := range p.rig.Members {
		require.Empty(p.t, m.Fell(), "%s ended by itself", m.ID)
	}
	p.agree()
	p.hush()
	return p.read()
}

// final are the states of executions that are over.
const final = "('SUCCESS', 'FAILED', 'TIMEOUT', 'DEAD', 'CANCELLED', 'SKIPPED')"

// agree compares the runs with what their target answered.
func (p *post) agree() {
	rows, err := p.db.QueryContext(p.t.Context(), "SELECT id, status FROM scheduler_job_execution WHERE status IN "+
		"('SUCCESS', 'FAILED')")
	require.NoError(p.t, err)
	defer rows.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for rows.Next() {
		var id, status string
		require.NoError(p.t, rows.Scan(&id, &status))
		want := map[string]int{"SUCCESS": http.StatusOK, "FAILED": http.StatusInternalServerError}[status]
		if p.answers[id][want] == 0 {
			p.t.Errorf("the run %s is %s, and its target has never answered %d", id, status, want)
		}
	}
	require.NoError(p.t, rows.Err())
}

func (p *post) read() delivery.History {
	h := delivery.History{Receipts: p.ledger.Receipts(), Faults: p.faults, CopyFaults: p.copyFaults}
	h.Failed = map[string]int{}
	channels := map[string]string{p.hook: delivery.Webhook, p.mail: delivery.Email}
	p.each("SELECT job_id, COUNT(*) FROM scheduler_job_execution WHERE status IN ('FAILED', 'TIMEOUT', 'DEAD') "+
		"GROUP BY job_id", func(rows *sql.Rows) error {
		var job string
		var n int
		err := rows.Scan(&job, &n)
		if p.labels[job][eachFailure] != "" {
			h.Failed[job] = n
		}
		return err
	})
	told := map[string][]string{}
	p.each("SELECT notification_id, alert_id FROM scheduler_notification_alert", func(rows *sql.Rows) error {
		var message, alert string
		err := rows.Scan(&message, &alert)
		told[message] = append(told[message], alert)
		return err
	})
	p.each("SELECT id, group_key, channel_id, number, state FROM scheduler_notification", func(rows *sql.Rows) error {
		var m delivery.Message
		err := rows.Scan(&m.ID, &m.Group, &m.Channel, &m.Number, &m.State)
		m.Channel, m.Alerts = channels[m.Channel], told[m.ID]
		h.Messages = append(h.Messages, m)
		return err
	})
	p.each("SELECT id, fingerprint, rule_id, job_id, status, evidence_count, "+millis("start_time")+", "+
		millis("last_time")+" FROM scheduler_alert WHERE rule_id IN ('"+strings.Join(p.ruleIDs(), "','")+"')",
		func(rows *sql.Rows) error {
			var a delivery.Alert
			var start, last int64
			err := rows.Scan(&a.ID, &a.Fingerprint, &a.Rule, &a.Job, &a.Status, &a.Count, &start, &last)
			a.Start, a.Last = time.UnixMilli(start), time.UnixMilli(last)
			a.Fired, a.Channels = a.Status != "PENDING", []string{channels[p.rules[a.Rule].channel]}
			a.Each = p.rules[a.Rule].inARow == 1
			h.Alerts = append(h.Alerts, a)
			return err
		})
	p.each("SELECT notification_id, attempt, COALESCE(result, ''), "+millis("start_time")+", COALESCE("+
		millis("end_time")+", 0) FROM scheduler_alert_delivery ORDER BY notification_id, attempt",
		func(rows *sql.Rows) error {
			var a delivery.Attempt
			var start, end int64
			err := rows.Scan(&a.Message, &a.Number, &a.Result, &start, &end)
			a.Start, a.End = time.UnixMilli(start), time.UnixMilli(end)
			h.Deliveries = append(h.Deliveries, a)
			return err
		})
	p.copies(&h)
	return h
}

// millis reads a time of the store, which is in UTC, whatever the zone of the session.
func millis(column string) string {
	return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + column + ") DIV 1000"
}

func (p *post) ruleIDs() (ids []string) {
	for id := range p.rules {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (p *post) each(query string, scan func(*sql.Rows) error) {
	rows, err := p.db.QueryContext(p.t.Context(), query)
	require.NoError(p.t, err)
	defer rows.Close()
	for rows.Next() {
		require.NoError(p.t, scan(rows))
	}
	require.NoError(p.t, rows.Err())
}
