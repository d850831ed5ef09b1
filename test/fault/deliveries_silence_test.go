package fault_test

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/silence"
)

// overlapping makes a job whose runs last longer than its interval, so that fires are left out.
func (p *post) overlapping() {
	p.keep(p.add(map[string]any{"name": "lasting", "overlapPolicy": "DISCARD"}, "/lasting", 500, eachFailure))
}

// hush compares what is silent with the rows and the ledger, once all is quiet. Alerts end a moment
// after the runs that end them.
func (p *post) hush() {
	var broken []string
	require.Eventually(p.t, func() bool {
		if p.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE update_time > UTC_TIMESTAMP(3) - INTERVAL "+
			strconv.Itoa(int(silence.Quiet/time.Second))+" SECOND") > 0 {
			broken = []string{"something has just ended"}
			return false
		}
		h := p.silences()
		broken = silence.Check(h)
		p.t.Logf("silence: %d runs, %d alerts, %d messages, %d receipts, %d deadlines, statistics of %d jobs",
			len(h.Runs), len(h.Alerts), len(h.Messages), len(h.Receipts), len(h.Deadlines), len(h.Statistics))
		return len(broken) == 0
	}, settled, 2*time.Second, "nothing is silent")
	for _, b := range broken {
		p.t.Error(b)
	}
}

// statistics are those of each job, once all ends are counted.
func (p *post) statistics() (all []silence.Statistic) {
	for _, job := range p.jobs {
		total := p.call("GET", "/api/v1/monitor/statistics?job="+job, nil)["total"].(map[string]any)
		n := func(field string) int { return int(total[field].(float64)) }
		all = append(all, silence.Statistic{
			Job: job, Runs: n("runs"), Success: n("success"), Failed: n("failed"), Timeout: n("timeout"),
			Cancelled: n("cancelled"), Dead: n("dead"), Skipped: n("skipped"),
		})
	}
	return all
}

// silences reads rows and receipts.
func (p *post) silences() silence.History {
	var h silence.History
	p.each("SELECT id, job_id, fire_key, COALESCE(retry_of, ''), status, COALESCE(reason, ''), COALESCE(shard_id, ''), "+
		"skip_to IS NOT NULL, COALESCE(skip_count, 0), IF(trigger_type = 'SCHEDULE', "+millis("scheduled_time")+", 0), "+
		millis("create_time")+", IF(status IN "+final+", "+millis("update_time")+
		", 0) FROM scheduler_job_execution", func(rows *sql.Rows) error {
		var r silence.Run
		var shard string
		var due, made, ended int64
		err := rows.Scan(&r.ID, &r.Job, &r.Fire, &r.RetryOf, &r.Status, &r.Reason, &shard, &r.Range, &r.Skips, &due, &made,
			&ended)
		if _, of, sharded := strings.Cut(shard, "/"); sharded {
			r.Shards = atoi(p.t, of)
		}
		r.Made = time.UnixMilli(made)
		if due > 0 {
			r.Due = time.UnixMilli(due)
		}
		if ended > 0 {
			r.Ended = time.UnixMilli(ended)
		}
		h.Runs = append(h.Runs, r)
		return err
	})
	for rule, w := range p.rules {
		h.Rules = append(h.Rules, silence.Rule{ID: rule, InARow: w.inARow, Sees: func(job string) bool {
			return p.sees(w, job)
		}})
	}
	for _, d := range p.deadlines {
		if d.At.Before(p.paused) {
			h.Deadlines = append(h.Deadlines, d)
		}
	}
	for _, f := range p.faults {
		if f.Step > 0 {
			h.Steps = append(h.Steps, silence.Step{From: f.From, Until: f.Until, By: f.Step})
		}
	}
	h.Statistics = p.statistics()
	p.each("SELECT id, rule_id, job_id, status <> 'RESOLVED' FROM scheduler_alert WHERE rule_id IN ('"+
		strings.Join(p.ruleIDs(), "','")+"')", func(rows *sql.Rows) error {
		var a silence.Alert
		err := rows.Scan(&a.ID, &a.Rule, &a.Job, &a.Open)
		h.Alerts = append(h.Alerts, a)
		return err
	})
	named := map[string][]string{}
	p.each("SELECT notification_id, alert_id FROM scheduler_notification_alert", func(rows *sql.Rows) error {
		var message, alert string
		err := rows.Scan(&message, &alert)
		named[message] = append(named[message], alert)
		return err
	})
	p.each(fmt.Sprintf("SELECT id, state = 'SENT' FROM scheduler_notification WHERE channel_id = '%s'", p.hook),
		func(rows *sql.Rows) error {
			var m silence.Message
			err := rows.Scan(&m.ID, &m.Sent)
			m.Named = named[m.ID]
			h.Messages = append(h.Messages, m)
			return err
		})
	for _, r := range p.ledger.Receipts() {
		if r.Channel != delivery.Webhook || !r.Accepted {
			continue
		}
		receipt := silence.Receipt{Message: r.ID}
		for _, a := range r.Alerts {
			receipt.Named = append(receipt.Named, a.ID)
		}
		h.Receipts = append(h.Receipts, receipt)
	}
	return h
}
