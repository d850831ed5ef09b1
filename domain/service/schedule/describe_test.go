package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// described is a cron expression in both languages.
type described struct{ expression, english, chinese string }

func (d described) check(t *testing.T, dialect cronexpr.Dialect) {
	t.Helper()
	spec := quartz(d.expression)
	spec.Dialect = dialect
	s := compile(t, spec)
	require.Equal(t, d.english, s.Describe(schedule.English), d.expression)
	require.Equal(t, d.chinese, s.Describe(schedule.Chinese), d.expression)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, tt := range []described{
		{"* * * * * ?", "every second", "每秒"},
		{"0/10 * * * * ?", "every 10 seconds", "每 10 秒"},
		{"0 0/5 * * * ?", "every 5 minutes", "每 5 分钟"},
		{"0 * * * * ?", "every minute", "每分钟"},
		{"0 0 * * * ?", "every hour", "每小时"},
		{"0 15 * * * ?", "every hour at minute 15", "每小时的第 15 分钟"},
		{"0 15 0/6 * * ?", "every 6 hours at minute 15", "每 6 小时的第 15 分钟"},
		{"0 0 9 * * ?", "at 09:00 every day", "每天 09:00"},
		{"30 45 8,20 * * ?", "at 08:45:30, 20:45:30 every day", "每天 08:45:30、20:45:30"},
		{"@every 90s", "every 90 seconds", "每 90 秒"},
		{"@every 1h", "every hour", "每小时"},
		{"@every 24h", "every day", "每天"},
		{"@yearly", "at 00:00 on day 1 of January", "1月的 1 日 00:00"},
	} {
		tt.check(t, cronexpr.Quartz)
	}
}

func TestDescribeDays(t *testing.T) {
	t.Parallel()
	for _, tt := range []described{
		{"0 0 9 ? * MON-FRI", "at 09:00 from Monday to Friday", "周一至周五 09:00"},
		{"0 0 9 ? * MON", "at 09:00 on Monday", "周一 09:00"},
		{"0 0/5 * ? * SUN,SAT", "every 5 minutes on Saturday, Sunday", "周六、周日每 5 分钟"},
		{"0 0 9 ? * TUE-SAT", "at 09:00 on Tuesday, Wednesday, Thursday, Friday, Saturday", "周二、周三、周四、周五、周六 09:00"},
		{"0 0 18 L * ?", "at 18:00 on the last day of the month", "每月最后一天 18:00"},
		{"0 0/5 * L * ?", "every 5 minutes on the last day of the month", "每月最后一天每 5 分钟"},
		{"0 0 18 LW * ?", "at 18:00 on the last weekday of the month", "每月最后一个工作日 18:00"},
		{"0 0 18 15 * ?", "at 18:00 on day 15 of the month", "每月 15 日 18:00"},
		{"0 0 18 15,1 * ?", "at 18:00 on days 1, 15 of the month", "每月 1 日、15 日 18:00"},
		{"0 0 18 1,11,21 * ?", "at 18:00 on days 1, 11, 21 of the month", "每月 1 日、11 日、21 日 18:00"},
		{"0 15 0/6 15 * ?", "every 6 hours at minute 15 on day 15 of the month", "每月 15 日每 6 小时的第 15 分钟"},
	} {
		tt.check(t, cronexpr.Quartz)
	}
}

func TestDescribeMonths(t *testing.T) {
	t.Parallel()
	for _, tt := range []described{
		{"0 0 9 * JAN,MAR ?", "at 09:00 every day in January, March", "1月、3月每天 09:00"},
		{"0 0/5 * * DEC ?", "every 5 minutes in December", "12月每 5 分钟"},
		{"0 0 9 ? 1,3 MON-FRI", "at 09:00 from Monday to Friday in January, March", "1月、3月的周一至周五 09:00"},
		{"0 0/5 * ? 1 SAT,SUN", "every 5 minutes on Saturday, Sunday in January", "1月的周六、周日每 5 分钟"},
		{"0 0 18 15 1,3 ?", "at 18:00 on day 15 of January, March", "1月、3月的 15 日 18:00"},
		{"0 0 18 1,15 1 ?", "at 18:00 on days 1, 15 of January", "1月的 1 日、15 日 18:00"},
		{"0 0 18 L 3/3 ?", "at 18:00 on the last day of March, June, September, December", "3月、6月、9月、12月的最后一天 18:00"},
		{"0 0 18 LW 1 ?", "at 18:00 on the last weekday of January", "1月的最后一个工作日 18:00"},
		{"0 0 9 * 1-6 ?", "at 09:00 every day in January, February, March, April, May, June", "1月、2月、3月、4月、5月、6月每天 09:00"},
	} {
		tt.check(t, cronexpr.Quartz)
	}
}

func TestDescribeReadsTheDialect(t *testing.T) {
	t.Parallel()
	for _, tt := range []described{
		{"0 9 * * 1-5", "at 09:00 from Monday to Friday", "周一至周五 09:00"},
		{"0 9 * * 0,6", "at 09:00 on Saturday, Sunday", "周六、周日 09:00"},
		{"0 9 1,15 1 *", "at 09:00 on days 1, 15 of January", "1月的 1 日、15 日 09:00"},
		{"0 9 15 * 1", "0 9 15 * 1", "0 9 15 * 1"},
	} {
		tt.check(t, cronexpr.Unix)
	}
}

func TestUncommonExpressionsDescribeThemselves(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0 0/7 * * * ?", "0 1/5 * * * ?", "1/10 * * * * ?", "30 0/5 * * * ?", "0 0 9-17 * * ?", "0 0,20 9 * * ?",
		"0 0 9 * * ? 2030", "0 0 9 * 1-7 ?", "0 0 9 1-4 * ?",
		"0 0 9 1,L * ?", "0 0 9 1,LW * ?", "0 0 9 L,LW * ?", "0 0 9 L-1 * ?", "0 0 9 L,L-1 * ?", "0 0 9 L-1W * ?",
		"0 0 9 15W * ?", "0 0 9 1,15W * ?", "0 0 9 ? * 6L", "0 0 9 ? * 6#3",
	} {
		described{text, text, text}.check(t, cronexpr.Quartz)
	}
}

func TestDescribeZones(t *testing.T) {
	t.Parallel()
	s := compile(t, inZone("Asia/Shanghai"))
	require.Equal(t, "at 09:00 every day (Asia/Shanghai)", s.Describe(schedule.English))
	require.Equal(t, "每天 09:00（Asia/Shanghai）", s.Describe(schedule.Chinese))
	uncommon := inZone("Asia/Shanghai")
	uncommon.CronExpression = "0 0/7 * * * ?"
	require.Equal(t, "0 0/7 * * * ? (Asia/Shanghai)", compile(t, uncommon).Describe(schedule.English))
	require.Equal(t, "0 0/7 * * * ?（Asia/Shanghai）", compile(t, uncommon).Describe(schedule.Chinese))
}

func TestDescribeKinds(t *testing.T) {
	t.Parallel()
	hour := time.Hour.Milliseconds()
	for _, tt := range []struct {
		spec             schedule.Spec
		english, chinese string
	}{
		{schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1_500}, "every 1500 milliseconds", "每 1500 毫秒"},
		{schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 48 * hour}, "every 2 days", "每 2 天"},
		{schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 60_000}, "1 minute after each run ends", "每次运行结束后 1 分钟"},
		{schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 11 * hour}, "11 hours after each run ends", "每次运行结束后 11 小时"},
		{schedule.Spec{Kind: schedule.Once, At: now}, "once at 2026-11-20T22:00:00.000Z", "仅一次：2026-11-20T22:00:00.000Z"},
		{schedule.Spec{}, "only when started by hand or over the API", "仅由手动或 API 触发"},
	} {
		s := compile(t, tt.spec)
		require.Equal(t, tt.english, s.Describe(schedule.English))
		require.Equal(t, tt.chinese, s.Describe(schedule.Chinese))
	}
}

func TestUnknownLanguagesReadAsEnglish(t *testing.T) {
	t.Parallel()
	s := compile(t, quartz("0 0 9 * * ?"))
	for _, lang := range []schedule.Language{"", "fr", "ZH"} {
		require.Equal(t, "at 09:00 every day", s.Describe(lang))
	}
}
