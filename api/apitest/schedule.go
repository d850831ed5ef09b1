package apitest

import (
	"strings"
)

func expressions() []Case {
	const field = "schedule.cronExpression"
	var out []Case
	for _, c := range []struct{ row, dialect, text string }{
		{"1", "UNIX", "TZ="},
		{"2", "UNIX", "TZ=0"},
		{"3", "UNIX", "CRON_TZ=Asia/Tokyo"},
		{"4", "UNIX", "TZ=../../etc/passwd * * * * *"},
		{"5", "QUARTZ", ""},
		{"6", "QUARTZ", "   "},
		{"7 quartz", "QUARTZ", "0 0 0 *"},
		{"7 unix", "UNIX", "* * * *"},
		{"8 quartz", "QUARTZ", "0 0 0 * * ? 2026 2027"},
		{"8 unix", "UNIX", "* * * * * * *"},
		{"9", "UNIX", "60 * * * *"},
		{"10", "UNIX", "*/0 * * * *"},
		{"11", "UNIX", "*/999999999 * * * *"},
		{"12", "UNIX", "5-1 * * * *"},
		{"13", "UNIX", "-1 * * * *"},
		{"14", "UNIX", "1-4294967296 * * * *"},
		{"15", "UNIX", "0 0 30 2 *"},
		{"17", "UNIX", "0 0 31 4,6,9,11 *"},
		{"18", "QUARTZ", "@every 0s"},
		{"19", "QUARTZ", "@every -5m"},
		{"20", "QUARTZ", "@every 1ns"},
		{"21", "QUARTZ", "@every 999999h"},
		{"22", "QUARTZ", "@reboot"},
		{"24", "UNIX", "0 0 L * *"},
		{"25", "UNIX", "１ * * * *"},
		{"26", "UNIX", "* * * * *\n* * * * *"},
		{"27", "UNIX", "* * * * *;rm -rf /"},
		{"28", "UNIX", strings.Repeat("1,", 100_000) + "1 * * * *"},
		{"28 spaces", "UNIX", "* * * *" + strings.Repeat(" ", 1000) + "*"},
		{"51 NUL", "UNIX", "* * * * *\x00"},
	} {
		schedule := fields{"kind": "CRON", "dialect": c.dialect, "cronExpression": c.text}
		out = append(out,
			wrong(c.row, jobs, minimal().with(fields{"schedule": schedule}).String(), field, ""),
			wrong(c.row, preview, fields{"schedule": schedule}.String(), field, ""))
	}
	for _, zone := range []string{
		"Mars/Phobos", "Local", "EST5EDT", "UTC+25", "../../etc/passwd", "\x00",
		strings.Repeat("x", 5000),
	} {
		schedule := fields{"kind": "CRON", "cronExpression": "0 0 0 * * ?", "timeZone": zone}
		out = append(out, wrong("30 "+zone[:min(len(zone), 12)], jobs, minimal().with(fields{"schedule": schedule}).String(),
			"schedule.timeZone", ""))
	}
	return out
}

func times() []Case {
	const start = "schedule.startTime"
	return []Case{
		wrong("31", jobs, scheduled("startTime", `"2027-01-02T00:00:00Z","endTime":"2027-01-01T00:00:00Z"`), start, ""),
		wrong("32 first year", jobs, scheduled("startTime", `"0001-01-01T00:00:00Z"`), start, ""),
		wrong("32 last year", jobs, scheduled("startTime", `"9999-12-31T00:00:00Z"`), start, ""),
		wrong("32 at", jobs, raw("schedule", `{"kind":"ONCE","at":"9999-12-31T00:00:00Z"}`), "schedule.at", ""),
		wrong("33", jobs, raw("schedule", `{"kind":"ONCE","at":"2020-01-01T00:00:00Z"}`), "schedule.at", ""),
		wrong("34 offset", jobs, scheduled("startTime", `"2027-01-01T00:00:00+99:99"`), start, ""),
		wrong("34 leap second", jobs, scheduled("startTime", `"2026-12-31T23:59:60Z"`), start, ""),
		wrong("34 date", jobs, scheduled("startTime", `"2026-12-31"`), start, ""),
		wrong("34 no such day", jobs, scheduled("startTime", `"2027-02-29T00:00:00Z"`), start, ""),
		wrong("34 word", jobs, scheduled("startTime", `"tomorrow"`), start, ""),
		wrong("34 number", jobs, scheduled("endTime", `1795000000`), "schedule.endTime", ""),
	}
}

func previews() []Case {
	daily := `{"schedule":{"kind":"CRON","cronExpression":"0 0 0 * * ?"},`
	return []Case{
		wrong("72 schedule", preview, `{}`, "schedule", "required"),
		wrong("73 schedule", preview, `{"schedule":null}`, "schedule", "required"),
		wrong("74 schedule", preview, `{"schedule":[]}`, "schedule", "wrong_type"),
		wrong("45 zero", preview, daily+`"count":0}`, "count", "out_of_range"),
		wrong("45 many", preview, daily+`"count":1001}`, "count", "out_of_range"),
		wrong("45 huge", preview, daily+`"count":9223372036854775808}`, "count", "out_of_range"),
		wrong("46", preview, daily+`"count":"1"}`, "count", "wrong_type"),
		wrong("34", preview, daily+`"from":"yesterday"}`, "from", "invalid_time"),
		wrong("32", preview, daily+`"from":"9999-12-31T23:59:59Z"}`, "schedule.cronExpression", ""),
		wrong("77", preview, daily+`"jobId":"x"}`, "jobId", "unknown_field"),
		wrong("37 interval", preview, `{"schedule":{"kind":"FIXED_RATE","intervalMs":9223372036854775807}}`,
			"schedule.intervalMs", "out_of_range"),
		wrong("35 interval", preview, `{"schedule":{"kind":"FIXED_RATE","intervalMs":-1}}`, "schedule.intervalMs",
			"out_of_range"),
	}
}

func triggers() []Case {
	return []Case{
		wrong("35", trigger, `{"delaySec":-1}`, "delaySec", "out_of_range"),
		wrong("37", trigger, `{"delaySec":2147483648}`, "delaySec", "out_of_range"),
		wrong("38", trigger, `{"delaySec":9223372036854775808}`, "delaySec", "out_of_range"),
		wrong("41", trigger, `{"delaySec":1.5}`, "delaySec", "not_an_integer"),
		wrong("34", trigger, `{"scheduledTime":"2027-01-01"}`, "scheduledTime", "invalid_time"),
		wrong("32", trigger, `{"scheduledTime":"0001-01-01T00:00:00Z"}`, "scheduledTime", "invalid_time"),
		wrong("32 offset", trigger, `{"scheduledTime":"9999-12-31T23:59:59-01:00"}`, "scheduledTime", "invalid_time"),
		wrong("74 params", trigger, `{"params":[1]}`, "params", "wrong_type"),
		wrong("50 params", trigger, `{"params":{"x":"`+strings.Repeat("x", 64<<10)+`"}}`, "params", "too_long"),
		wrong("77", trigger, `{"token":1}`, "token", "unknown_field"),
	}
}

func backfills() []Case {
	const day = `{"from":"2020-01-01T00:00:00Z","to":"2020-01-02T00:00:00Z",`
	bounds := func(from, to string) string { return `{"from":` + from + `,"to":` + to + `}` }
	return []Case{
		wrong("72 from", backfill, `{"to":"2020-01-01T00:00:00Z"}`, "from", "required"),
		wrong("72 to", backfill, `{"from":"2020-01-01T00:00:00Z"}`, "to", "required"),
		wrong("73 to", backfill, bounds(`"2020-01-01T00:00:00Z"`, "null"), "to", "required"),
		wrong("31", backfill, bounds(`"2020-01-02T00:00:00Z"`, `"2020-01-01T00:00:00Z"`), "to", "out_of_order"),
		wrong("31 empty", backfill, bounds(`"2020-01-02T00:00:00Z"`, `"2020-01-02T08:00:00+08:00"`), "to", "out_of_order"),
		wrong("32 future", backfill, bounds(`"2020-01-01T00:00:00Z"`, `"2150-01-01T00:00:00Z"`), "to", "in_the_future"),
		wrong("32 first year", backfill, bounds(`"0001-01-01T00:00:00Z"`, `"2020-01-02T00:00:00Z"`), "from", "invalid_time"),
		wrong("34", backfill, bounds(`"2020-01-01"`, `"2020-01-02T00:00:00Z"`), "from", "invalid_time"),
		wrong("34 number", backfill, bounds("1577836800", `"2020-01-02T00:00:00Z"`), "from", "wrong_type"),
		wrong("45 none", backfill, day+`"maxParallel":0}`, "maxParallel", "out_of_range"),
		wrong("45 many", backfill, day+`"maxParallel":101}`, "maxParallel", "out_of_range"),
		wrong("38", backfill, day+`"maxParallel":9223372036854775808}`, "maxParallel", "out_of_range"),
		wrong("41", backfill, day+`"maxParallel":1.5}`, "maxParallel", "not_an_integer"),
		wrong("47", backfill, day+`"dryRun":1}`, "dryRun", "wrong_type"),
		wrong("47 failed", backfill, day+`"includeFailed":"true"}`, "includeFailed", "wrong_type"),
		wrong("46", backfill, day+`"maxParallel":"1"}`, "maxParallel", "wrong_type"),
		wrong("77", backfill, day+`"params":{}}`, "params", "unknown_field"),
		wrong("78 failed", backfill, day+`"includefailed":true}`, "includefailed", "unknown_field"),
		wrong("78", backfill, day+`"dryrun":true}`, "dryrun", "unknown_field"),
	}
}
