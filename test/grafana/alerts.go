package main

// alerts are those of the product and those of Prometheus.
func alerts() Dashboard {
	return dashboard("ps-alerts", "alerts", "Alerts of the product and of Prometheus, and what became of the messages.",
		nil,
		stat("Critical", "short", "Alerts that fire.", `max(ps_alerts{level="CRITICAL", status="FIRING"})`, 1, 1),
		stat("Warnings", "short", "Alerts that fire.", `max(ps_alerts{level="WARNING", status="FIRING"})`, 1, 1e9),
		plain("Acknowledged", "short", "Somebody works on them.", `sum(max by (level) (ps_alerts{status="ACKNOWLEDGED"}))`),
		stat("Rules", "s", "Time since rules were last evaluated.",
			`time() - max(ps_rules_last_evaluation_timestamp_seconds)`, 30, 120),
		stat("Waits for rules", "short", "Events that rules have not read.", `max(ps_outbox_events{reader="rules"})`, 1000,
			10000),
		stat("Alerts of Prometheus", "short", "That fire.", `count(ALERTS{alertstate="firing"}) or vector(0)`, 1, 1),
		graph("Open alerts", "short", "By level and status.",
			q{`max by (level, status) (ps_alerts)`, "{{level}} {{status}}"}),
		graph("Messages", "ops", "Attempts to send, by type of channel and result.",
			q{perSecond("ps_deliveries_total", "", "channel", "result"), "{{channel}} {{result}}"}),
		graph("Messages that did not arrive", "ops", "FAILED is tried again; REFUSED needs somebody who mends the channel.",
			q{perSecond("ps_deliveries_total", `{result!="SENT"}`, "channel", "result"), "{{channel}} {{result}}"}),
		graph("Delay of messages", "s", "From due to sent, 95 of 100, by type of channel.",
			q{quantile(0.95, "ps_notification_delay_seconds", "", "channel"), "{{channel}}"}),
		graph("Messages given up", "short", "In ten minutes: refused, or not sent within a day.",
			q{`sum by (channel) (increase(ps_notifications_dead_total[10m]))`, "{{channel}}"}),
		table("Alerts of Prometheus", "short", "Each links to its runbook in configs/prometheus/rules/alerts.yml.", lineWidth,
			`max by (alertname, severity, instance, part, loop, alertstate) (ALERTS)`),
	)
}
