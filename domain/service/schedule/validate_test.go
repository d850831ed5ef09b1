package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

var now = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func unix(text string) schedule.Spec {
	return schedule.Spec{Kind: schedule.Cron, CronExpression: text, Dialect: cronexpr.Unix}
}

func quartz(text string) schedule.Spec {
	return schedule.Spec{Kind: schedule.Cron, CronExpression: text, Dialect: cronexpr.Quartz}
}

func inZone(name string) schedule.Spec {
	spec := quartz("0 0 9 * * ?")
	spec.TimeZone = name
	return spec
}

// TestBadInputs goes through the catalogue of inputs that other schedulers
// stumble over, by its numbers. An empty field means valid by design. Number
// 34, malformed RFC 3339, cannot reach this package: its times are parsed.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	const expression, zone, start, end, at = "schedule.cronExpression", "schedule.timeZone", "schedule.startTime",
		"schedule.endTime", "schedule.at"
	bounded := func(from, to time.Time) schedule.Spec {
		spec := quartz("0 0 9 * * ?")
		spec.StartTime, spec.EndTime = from, to
		return spec
	}
	year := func(y int) time.Time { return time.Date(y, 6, 1, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		number int
		spec   schedule.Spec
		field  string
		code   string
	}{
		{1, unix("TZ="), expression, schedule.CodeInvalid},
		{2, unix("TZ=0"), expression, schedule.CodeInvalid},
		{3, unix("CRON_TZ=Asia/Tokyo"), expression, schedule.CodeInvalid},
		{4, unix("TZ=../../etc/passwd * * * * *"), expression, schedule.CodeInvalid},
		{5, unix(""), expression, schedule.CodeRequired},
		{6, unix("   "), expression, schedule.CodeRequired},
		{7, unix("* * * *"), expression, schedule.CodeInvalid},
		{8, unix("* * * * * * *"), expression, schedule.CodeInvalid},
		{8, quartz("* * * * * ? * *"), expression, schedule.CodeInvalid},
		{9, unix("60 * * * *"), expression, schedule.CodeInvalid},
		{10, unix("*/0 * * * *"), expression, schedule.CodeInvalid},
		{11, unix("*/999999999 * * * *"), expression, schedule.CodeInvalid},
		{12, unix("5-1 * * * *"), expression, schedule.CodeInvalid},
		{13, unix("-1 * * * *"), expression, schedule.CodeInvalid},
		{14, unix("1-4294967296 * * * *"), expression, schedule.CodeInvalid},
		{14, unix("18446744073709551617 * * * *"), expression, schedule.CodeInvalid},
		{15, unix("0 0 30 2 *"), expression, schedule.CodeNeverFires},
		{16, unix("0 0 29 2 *"), "", ""},
		{17, unix("0 0 31 4,6,9,11 *"), expression, schedule.CodeNeverFires},
		{18, unix("@every 0s"), expression, schedule.CodeInvalid},
		{19, unix("@every -5m"), expression, schedule.CodeInvalid},
		{20, unix("@every 1ns"), expression, schedule.CodeInvalid},
		{20, unix("@every 1s1ns"), expression, schedule.CodeInvalid},
		{21, unix("@every 999999h"), expression, schedule.CodeInvalid},
		{21, unix("@every 9999999999999999999999h"), expression, schedule.CodeInvalid},
		{22, unix("@reboot"), expression, schedule.CodeInvalid},
		{23, unix("0 0 * * 7"), "", ""},
		{24, unix("0 0 L * *"), expression, schedule.CodeInvalid},
		{25, unix("１ * * * *"), expression, schedule.CodeInvalid},
		{25, unix("١ * * * *"), expression, schedule.CodeInvalid},
		{26, unix("* * * * *\n* * * * *"), expression, schedule.CodeInvalid},
		{26, unix("* * * * *\n"), expression, schedule.CodeInvalid},
		{26, unix("* * * * *\x00"), expression, schedule.CodeInvalid},
		{27, unix("* * * * *;rm -rf /"), expression, schedule.CodeInvalid},
		{28, unix(strings.Repeat("1,", 100_000) + "1 * * * *"), expression, schedule.CodeInvalid},
		{29, unix("* * * * * *"), expression, schedule.CodeInvalid},
		{29, quartz("* * * * * ?"), "", ""},
		{30, inZone("Mars/Phobos"), zone, schedule.CodeUnknownZone},
		{30, inZone("Local"), zone, schedule.CodeUnknownZone},
		{30, inZone("EST5EDT"), zone, schedule.CodeUnknownZone},
		{30, inZone("UTC+25"), zone, schedule.CodeUnknownZone},
		{30, inZone("../../etc/passwd"), zone, schedule.CodeUnknownZone},
		{30, inZone("/etc/localtime"), zone, schedule.CodeUnknownZone},
		{30, inZone("TZ=UTC"), zone, schedule.CodeUnknownZone},
		{30, inZone("right/UTC"), zone, schedule.CodeUnknownZone},
		{30, inZone("posixrules"), zone, schedule.CodeUnknownZone},
		{30, inZone("Europe/Berlin\x00"), zone, schedule.CodeUnknownZone},
		{30, inZone(strings.Repeat("A", 10_000)), zone, schedule.CodeUnknownZone},
		{30, inZone("Asia/Shanghai"), "", ""},
		{30, inZone("Etc/GMT+5"), "", ""},
		{30, inZone("America/Argentina/Buenos_Aires"), "", ""},
		{30, inZone("America/Port-au-Prince"), "", ""},
		{31, bounded(year(2031), year(2030)), start, schedule.CodeOrder},
		{32, bounded(year(9999), time.Time{}), start, schedule.CodeOutOfRange},
		{32, bounded(year(1), time.Time{}), start, schedule.CodeOutOfRange},
		{32, bounded(time.Time{}, year(9999)), end, schedule.CodeOutOfRange},
		{32, schedule.Spec{Kind: schedule.Once, At: year(9999)}, at, schedule.CodeOutOfRange},
		{33, schedule.Spec{Kind: schedule.Once, At: now.Add(-time.Second)}, at, schedule.CodeInPast},
		{33, schedule.Spec{Kind: schedule.Once, At: now}, at, schedule.CodeInPast},
		{33, schedule.Spec{Kind: schedule.Once}, at, schedule.CodeRequired},
		{33, schedule.Spec{Kind: schedule.Once, At: now.Add(time.Second)}, "", ""},
	}
	compiler := schedule.NewCompiler()
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%d of row %d", i, tt.number), func(t *testing.T) {
			wrong := schedule.Validate(tt.spec, now)
			require.Equal(t, wrong, compiler.Validate(tt.spec, now), "a memory changes nothing")
			if tt.field == "" {
				require.Empty(t, wrong)
				return
			}
			require.Len(t, wrong, 1)
			require.Equal(t, tt.field, wrong[0].Field)
			require.Equal(t, tt.code, wrong[0].Code)
			require.NotEmpty(t, wrong[0].Message)
			require.Less(t, len(wrong[0].Message), 600)
			require.NotContains(t, wrong[0].Message, "\n", "no forged log lines")
			require.NotContains(t, wrong[0].Message, "\x00")
		})
	}
}

func TestEveryWrongFieldIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	spec := schedule.Spec{
		Kind: schedule.Cron, CronExpression: "0 61 * * * ?", TimeZone: "Nowhere", JitterMs: -1,
		StartTime: now.Add(time.Hour), EndTime: now, DstGap: "MAYBE", DstOverlap: "NEVER",
	}
	var fields []string
	for _, wrong := range schedule.Validate(spec, now) {
		fields = append(fields, strings.TrimPrefix(wrong.Field, "schedule."))
	}
	require.ElementsMatch(t, []string{"cronExpression", "timeZone", "jitterMs", "startTime", "dstGap", "dstOverlap"},
		fields)
	_, err := schedule.NewCompiler().Compile(spec)
	require.ErrorContains(t, err, "minute")
	require.ErrorContains(t, err, "timeZone")
	var wrong schedule.FieldError
	require.ErrorAs(t, err, &wrong)
}

func TestRefusedAndAccepted(t *testing.T) {
	t.Parallel()
	rate := func(ms int64) schedule.Spec {
		return schedule.Spec{Kind: schedule.FixedRate, IntervalMs: ms, Anchor: now}
	}
	with := func(spec schedule.Spec, change func(*schedule.Spec)) schedule.Spec {
		change(&spec)
		return spec
	}
	tests := map[string]struct {
		spec  schedule.Spec
		field string
		code  string
	}{
		"no schedule":    {schedule.Spec{}, "", ""},
		"none":           {schedule.Spec{Kind: schedule.None}, "", ""},
		"forgotten kind": {schedule.Spec{CronExpression: "0 0 9 * * ?"}, "kind", schedule.CodeRequired},
		"unknown kind":   {schedule.Spec{Kind: "cron", CronExpression: "0 0 9 * * ?"}, "kind", schedule.CodeUnknown},
		"unknown dialect": {
			schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 9 * * ?", Dialect: "quartz"},
			"dialect", schedule.CodeUnknown,
		},
		"default dialect":       {schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 9 * * ?"}, "", ""},
		"too frequent":          {rate(99), "intervalMs", schedule.CodeOutOfRange},
		"as frequent as may be": {rate(100), "", ""},
		"no interval":           {schedule.Spec{Kind: schedule.FixedDelay}, "intervalMs", schedule.CodeRequired},
		"negative interval":     {rate(-1), "intervalMs", schedule.CodeOutOfRange},
		"ten years":             {rate(schedule.MaxIntervalMs), "", ""},
		"longer than ten years": {rate(schedule.MaxIntervalMs + 1), "intervalMs", schedule.CodeOutOfRange},
		"huge interval":         {rate(1<<63 - 1), "intervalMs", schedule.CodeOutOfRange},
		"jitter of a day": {with(quartz("0 0 9 * * ?"), func(s *schedule.Spec) {
			s.JitterMs = schedule.MaxJitterMs
		}), "", ""},
		"jitter over a day": {with(quartz("0 0 9 * * ?"), func(s *schedule.Spec) {
			s.JitterMs = schedule.MaxJitterMs + 1
		}), "jitterMs", schedule.CodeOutOfRange},
		"jitter of an interval": {with(rate(5000), func(s *schedule.Spec) {
			s.JitterMs = 5000
		}), "jitterMs", schedule.CodeOutOfRange},
		"jitter of @every": {with(quartz("@every 5s"), func(s *schedule.Spec) {
			s.JitterMs = 5000
		}), "jitterMs", schedule.CodeOutOfRange},
		"years that have passed": {quartz("0 0 0 1 1 ? 2020-2025"), "cronExpression", schedule.CodeNeverFires},
		"end in the past": {with(quartz("0 0 9 * * ?"), func(s *schedule.Spec) {
			s.EndTime = now.Add(-time.Hour)
		}), "endTime", schedule.CodeInPast},
		"end before the first": {with(quartz("0 0 9 * * ?"), func(s *schedule.Spec) {
			s.EndTime = now.Add(time.Hour)
		}), "endTime", schedule.CodeNeverFires},
		"start in the past":       {with(rate(1000), func(s *schedule.Spec) { s.StartTime = now.AddDate(-9, 0, 0) }), "", ""},
		"@every without a period": {quartz("@every"), "cronExpression", schedule.CodeInvalid},
		"@everything":             {quartz("@everything 5s"), "cronExpression", schedule.CodeInvalid},
		"@EVERY 90s":              {quartz("@EVERY 90s"), "", ""},
		"@daily":                  {quartz("@daily"), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			wrong := schedule.Validate(tt.spec, now)
			if tt.field == "" {
				require.Empty(t, wrong)
				return
			}
			require.Len(t, wrong, 1)
			require.Equal(t, "schedule."+tt.field, wrong[0].Field)
			require.Equal(t, tt.code, wrong[0].Code)
		})
	}
}

func TestWhatIsWrittenBesideNoScheduleIsToBeRight(t *testing.T) {
	t.Parallel()
	none := schedule.Spec{Kind: schedule.None}
	require.Empty(t, schedule.Validate(none, now))
	for field, spec := range map[string]schedule.Spec{
		"schedule.timeZone":   {Kind: schedule.None, TimeZone: "Mars/Olympus"},
		"schedule.dstGap":     {Kind: schedule.None, DstGap: "MAYBE"},
		"schedule.dstOverlap": {Kind: schedule.None, DstOverlap: "MAYBE"},
		"schedule.dialect":    {Kind: schedule.None, Dialect: "KLINGON"},
	} {
		wrong := schedule.Validate(spec, now)
		require.Len(t, wrong, 1, field)
		require.Equal(t, field, wrong[0].Field)
		_, err := schedule.NewCompiler().Compile(spec)
		require.NoError(t, err, "what is stored is not asked again")
	}
}
