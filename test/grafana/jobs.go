package main

const ofJob = `{group=~"$group", job_name=~"$job_name"}`

// jobs are figures by job; they need server.metricsToken.
func jobs() Dashboard {
	return dashboard("ps-job", "jobs",
		"Figures by job. A node names its jobs only with server.metricsToken, up to monitoring.jobLabels of them; the "+
			"others are "+
			"the job other.",
		[]Variable{
			choice("group", "Group", "label_values(ps_job_executions_total, group)"),
			choice("job_name", "Job", `label_values(ps_job_executions_total{group=~"$group"}, job_name)`),
		},
		graph("Ends by status", "ops", "WAITING: a retry follows.",
			q{perSecond("ps_job_executions_total", ofJob, "status"), "{{status}}"}),
		graph("Ends by job", "ops", "The ten jobs with the most.",
			q{`topk(10, ` + perSecond("ps_job_executions_total", ofJob, "group", "job_name") + `)`, "{{group}} {{job_name}}"}),
		graph("Failures by job", "ops", "The ten jobs with the most.",
			q{
				`topk(10, ` + perSecond("ps_job_executions_total", `{group=~"$group", job_name=~"$job_name", `+
					`status=~"FAILED|TIMEOUT|DEAD"}`, "group", "job_name") + `)`, "{{group}} {{job_name}}",
			}),
		graph("Mean duration", "s", "Of attempts, by job: the ten slowest.",
			q{
				`topk(10, ` + perSecond("ps_job_duration_seconds_sum", ofJob, "group", "job_name") + ` / (` +
					perSecond("ps_job_duration_seconds_count", ofJob, "group", "job_name") + ` > 0))`, "{{group}} {{job_name}}",
			}),
		graph("Busy slots", "short", "Slots that a job keeps busy, on the average: the ten with the most.",
			q{
				`topk(10, ` + perSecond("ps_job_duration_seconds_sum", ofJob, "group", "job_name") + `)`,
				"{{group}} {{job_name}}",
			}),
		graph("Share of failures", "percentunit", "Of the ends of a job: the ten with the most.",
			q{
				`topk(10, ` + perSecond("ps_job_executions_total", `{group=~"$group", job_name=~"$job_name", `+
					`status=~"FAILED|TIMEOUT|DEAD"}`, "group", "job_name") + ` / (` +
					perSecond("ps_job_executions_total", ofJob, "group", "job_name") + ` > 0))`, "{{group}} {{job_name}}",
			}),
		table("Since the last success", "s", "On any node.", 12,
			`time() - max by (group, job_name) (ps_job_last_success_timestamp_seconds`+ofJob+`)`),
		table("Since the last failure", "s", "On any node.", 12,
			`time() - max by (group, job_name) (ps_job_last_failure_timestamp_seconds`+ofJob+`)`),
	)
}
