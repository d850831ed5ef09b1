package jobs

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// described are the fields of job get.
const described = "Name=name, Group=group, Id=id, Description=description, Owner=owner, Labels=labels, " +
	"Status=status, Paused=pause, Unreadable=unreadable, Type=type, Data=data, Parameters=declared, Schedule=rule, " +
	"In words=times.description, Next fires=times.fireTimes|times, Last fire=lastFireTime|zoned, " +
	"Misfire=schedule.misfirePolicy, Overlap=overlap, Retries=retries, " +
	"Time limit=timeoutSec|seconds, Start deadline=startDeadlineSec|seconds, Shards=shards, Routing=routed, " +
	"On node loss=onNodeLoss, Alerts=channels, Deadline=by, Starts=starts, Started by=startedBy, " +
	"Priority=priority, Version=changed, Made=createTime|moment"

// descriptions are what the fields of a job say together.
var descriptions = remote.Words{
	"pause": func(k *remote.Call, o remote.Object) string {
		text := remote.PauseWords(k, o)
		if o.Text("pausedBy") == "GROUP" {
			text = strings.TrimSpace("with its group " + text)
		}
		return text
	},
	"type": remote.Said("{jobType}[ {jobClass}]"),
	"declared": func(k *remote.Call, o remote.Object) string {
		var lines []string
		for _, p := range o.List("parameters") {
			text := "{name} {type|text}[ of {values}][, by default {default|bare}]"
			if p.Is("required") {
				text += ", required"
			}
			lines = append(lines, k.Sentence(text+"[: {description}]", p))
		}
		return strings.Join(lines, "\n")
	},
	// The jobs that an end of a fire starts.
	"starts": func(k *remote.Call, o remote.Object) string {
		var lines []string
		for _, n := range o.List("next") {
			lines = append(lines, k.Sentence("{job} on {on}[ with {params}]", n))
		}
		return strings.Join(lines, "\n")
	},
	"rule": func(k *remote.Call, o remote.Object) string {
		text, planned := schedules[o.Text("schedule.kind")]
		if !planned {
			return "none; it fires when it is triggered"
		}
		return k.Sentence(text+"[ from {schedule.startTime|zoned}][ until {schedule.endTime|zoned}]"+
			"[ spread over {schedule.jitterMs|span}]", o)
	},
	"dialect": func(_ *remote.Call, o remote.Object) string {
		return strings.TrimPrefix(o.Text("schedule.dialect"), "QUARTZ")
	},
	"overlap": func(k *remote.Call, o remote.Object) string {
		text := "{overlapPolicy}[, at most {maxConcurrency|some} at once]"
		if o.Text("overlapPolicy") == "SERIAL" || o.Int("maxConcurrency") > 0 {
			text += ", at most {maxQueued} wait"
		}
		return k.Sentence(text, o)
	},
	"retries": remote.If("retryPolicy.maxRetries", "{retryPolicy.maxRetries}, {retryPolicy.backoff} "+
		"from {retryPolicy.intervalMs|took} to at most {retryPolicy.maxIntervalMs|took}"+
		"[, not on {retryPolicy.noRetryOn}]", "none"),
	"channels": remote.Said("[on failure: {alerts.onFailure}\n][on success: {alerts.onSuccess}\n]" +
		"[on end: {alerts.onEnd}\n][when late: {alerts.onLate}\n][on recovery: {alerts.onRecovered}\n]" +
		"[late after {alerts.lateAfterSec|seconds}]"),
	"shards": func(k *remote.Call, o remote.Object) string {
		if o.Text("broadcast") == "true" {
			return remote.If("routing.workers", "one on every worker of {routing.workers}", "one on every node")(k, o)
		}
		return k.Sentence("{shardCount|several}", o)
	},
	"routed": remote.Said("{routing.strategy}[ among nodes with {routing.labels}]"),
	// The time of the day by which a fire is to have succeeded.
	"by":      remote.If("deadline", "{deadline.at} {deadline.timeZone}, then {deadline.onMiss}", ""),
	"changed": remote.Said("{version}, changed {updateTime|moment}"),
}

// schedules say when a job fires, by the kind of its schedule.
var schedules = map[string]string{
	"CRON":        "{schedule.kind} {schedule.cronExpression} {schedule.timeZone}[ {dialect}]",
	"ONCE":        "{schedule.kind} {schedule.at|zoned}",
	"FIXED_RATE":  "{schedule.kind} of {schedule.intervalMs|took}",
	"FIXED_DELAY": "{schedule.kind} of {schedule.intervalMs|took}",
}

var get = remote.Verb{
	Use: "get", Short: "Show a job", Words: descriptions, Path: "/jobs/{id}",
	Then: func(k *remote.Call, o remote.Object) error {
		// Data stays in the order in which it was written.
		data := k.Written("jobData")
		o["data"] = strings.TrimSpace(string(data))
		if text, err := yamljson.ToYAML(data); err == nil && o["data"] != "{}" {
			o["data"] = string(text)
		}
		next, err := k.Get(k.Path("/jobs/{id}/next-fire-times"), remote.Query(map[string]any{"count": 3}))
		if err == nil {
			o["times"] = map[string]any(next)
			k.Describe(described, o)
		}
		return err
	},
}
