package cronexpr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

func TestWrongExpressionsNameTheFieldAndTheRemedy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		dialect cronexpr.Dialect
		field   string
		says    string
	}{
		{"60 * * * * ?", cronexpr.Quartz, "second", "0 to 59"},
		{"0 60 * * * ?", cronexpr.Quartz, "minute", "0 to 59"},
		{"0 */0 * * * ?", cronexpr.Quartz, "minute", "never moves on"},
		{"0 1-5/0 * * * ?", cronexpr.Quartz, "minute", "never moves on"},
		{"0 0/60 * * * ?", cronexpr.Quartz, "minute", "1 to 59"},
		{"0 0 0/24 * * ?", cronexpr.Quartz, "hour", "1 to 23"},
		{"0 ? * * * ?", cronexpr.Quartz, "minute", "day-of-month or day-of-week"},
		{"0 0 1,,2 * * ?", cronexpr.Quartz, "hour", "cannot be read"},
		{"0 0 1- * * ?", cronexpr.Quartz, "hour", "cannot be read"},
		{"0 0 1-2-3 * * ?", cronexpr.Quartz, "hour", "cannot be read"},
		{"0 0 0 0 * ?", cronexpr.Quartz, "day-of-month", "1 to 31"},
		{"0 0 0 32W * ?", cronexpr.Quartz, "day-of-month", "15W"},
		{"0 0 0 1-15W * ?", cronexpr.Quartz, "day-of-month", "15W"},
		{"0 0 0 L-31 * ?", cronexpr.Quartz, "day-of-month", "0 to 30"},
		{"0 0 0 L3 * ?", cronexpr.Quartz, "day-of-month", "L-n"},
		{"0 0 0 ? 13 *", cronexpr.Quartz, "month", "1 to 12"},
		{"0 0 0 ? FOO *", cronexpr.Quartz, "month", "JAN to DEC"},
		{"0 0 0 ? JAN/2 *", cronexpr.Quartz, "month", "ignores a step"},
		{"0 0 0 ? * MON-FRI/2", cronexpr.Quartz, "day-of-week", "ignores a step"},
		{"0 0 0 ? * 6#3,2#1", cronexpr.Quartz, "day-of-week", "alone"},
		{"0 0 0 ? * 2,6L", cronexpr.Quartz, "day-of-week", "alone"},
		{"0 0 0 ? * 8L", cronexpr.Quartz, "day-of-week", "FRIL"},
		{"0 0 0 ? * 6#0", cronexpr.Quartz, "day-of-week", "1 to 5"},
		{"0 0 0 * * *", cronexpr.Quartz, "day-of-week", `must be "?"`},
		{"0 0 0 ? * ?", cronexpr.Quartz, "day-of-week", "only one"},
		{"0 0 0 1 1 ? 1969", cronexpr.Quartz, "year", "1970 to 2199"},
		{"0 0 0 1 1 ? 2030-2026", cronexpr.Quartz, "year", "backwards"},
		{"0 0/5 * * *", cronexpr.Quartz, "expression", "UNIX"},
		{"* * * * * ? * *", cronexpr.Quartz, "expression", "8 fields"},
		{"0 0/5 * * * ?", cronexpr.Unix, "expression", "QUARTZ"},
		{"0 0 ? * 1", cronexpr.Unix, "day-of-month", `write "*"`},
		{"0 0 L * *", cronexpr.Unix, "day-of-month", "QUARTZ"},
		{"0 0 * * SAT-MON", cronexpr.Unix, "day-of-week", "backwards"},
		{"0 0 * * 8", cronexpr.Unix, "day-of-week", "0 to 7"},
		{"@every 5m", cronexpr.Unix, "expression", "@hourly"},
		{"0 0 * * *", "CRONTAB", "expression", "QUARTZ or UNIX"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := cronexpr.Parse(tt.text, tt.dialect)
			var wrong *cronexpr.SyntaxError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, tt.field, wrong.Field)
			require.Contains(t, err.Error(), tt.says)
		})
	}
}

func TestExpressionsThatNeverFireAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0 0 0 30 2 ?", "0 0 0 31 4,6,9,11 ?", "0 0 0 L-29 2 ?", "0 0 0 31W FEB ?", "0 0 0 L-30W 6 ?", "0 0 0 29 2 ? 2100",
		"0 0 0 29 2 ? 2025-2027", "0 0 0 ? 2 1#5 2026",
	} {
		_, err := cronexpr.Parse(text, cronexpr.Quartz)
		require.ErrorIs(t, err, cronexpr.ErrNeverFires, text)
		require.ErrorContains(t, err, "never fires")
	}
	for _, text := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *"} {
		_, err := cronexpr.Parse(text, cronexpr.Unix)
		require.ErrorIs(t, err, cronexpr.ErrNeverFires, text)
	}
	parse(t, "0 0 0 29 2 ?", cronexpr.Quartz)
	parse(t, "0 0 0 L-28 2 ?", cronexpr.Quartz)
	parse(t, "0 0 30 2 MON", cronexpr.Unix)
}

// sameFires requires two expressions to fire alike from 2026 on.
func requireSame(t *testing.T, quartz, other string, dialect cronexpr.Dialect) {
	t.Helper()
	start := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC).Unix()
	require.Equal(t,
		fires(parse(t, quartz, cronexpr.Quartz), start, time.UTC, "", "", 50),
		fires(parse(t, other, dialect), start, time.UTC, "", "", 50), "%q and %q", quartz, other)
}

func TestUnixDialect(t *testing.T) {
	t.Parallel()
	for unix, quartz := range map[string]string{
		"*/5 * * * *":         "0 0/5 * * * ?",
		"30 4 1,15 * *":       "0 30 4 1,15 * ?",
		"0 9 * * 1-5":         "0 0 9 ? * MON-FRI",
		"0 9 * * MON-FRI/2":   "0 0 9 ? * MON,WED,FRI",
		"0 0 * * 7":           "0 0 0 ? * SUN",
		"0 0 * * 0":           "0 0 0 ? * SUN",
		"0 0 * * fri-sun":     "0 0 0 ? * FRI,SAT,SUN",
		"0 0 * * 5-7":         "0 0 0 ? * FRI,SAT,SUN",
		"0 0 * * */2":         "0 0 0 ? * SUN,TUE,THU,SAT",
		"0 0 * * 1/2":         "0 0 0 ? * MON,WED,FRI",
		"0 0 29 2 *":          "0 0 0 29 2 ?",
		" 0\t0  1 jan-mar * ": "0 0 0 1 1-3 ?",
	} {
		requireSame(t, quartz, unix, cronexpr.Unix)
	}
}

func TestUnixDaysMatchByEitherField(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC).Unix()
	days := func(text string) (got []int) {
		for _, fire := range fires(parse(t, text, cronexpr.Unix), at, time.UTC, "", "", 5) {
			got = append(got, time.Unix(fire, 0).UTC().Day())
		}
		return got
	}
	require.Equal(t, []int{4, 11, 13, 18, 25}, days("0 0 13 * FRI"), "either the 13th or a Friday")
	require.Equal(t, []int{11, 25, 9, 23, 13}, days("0 0 */2 * FRI"), "a star restricts: odd days that are Fridays")
	require.Equal(t, []int{1, 3, 5, 7, 9}, days("0 0 */2 10-12 *"))
}

func TestMacros(t *testing.T) {
	t.Parallel()
	for text, quartz := range map[string]string{
		"@hourly": "0 0 * * * ?", "@daily": "0 0 0 * * ?", "@midnight": "0 0 0 * * ?", "@weekly": "0 0 0 ? * SUN",
		"@monthly": "0 0 0 1 * ?", "@yearly": "0 0 0 1 1 ?", "@annually": "0 0 0 1 1 ?", "@Daily": "0 0 0 * * ?",
	} {
		requireSame(t, quartz, text, cronexpr.Unix)
		requireSame(t, quartz, text, cronexpr.Quartz)
	}
}

func TestQuartzShapes(t *testing.T) {
	t.Parallel()
	for text, same := range map[string]string{
		"0 /15 * * * ?":     "0 0,15,30,45 * * * ?",
		"0 0 22-4/3 * * ?":  "0 0 22,1,4 * * ?",
		"0 0 0 L-0 * ?":     "0 0 0 L * ?",
		"0 0 0 ? * 7L":      "0 0 0 ? * SATL",
		"0 0 0 28-2 * ?":    "0 0 0 28,29,30,31,1,2 * ?",
		"0 0 0 ? * * ":      "0 0 0 * * ?",
		"0 0 0/0 * * ?":     "0 0 0 * * ?",
		"0 0 0 1 1 ? */2":   "0 0 0 1 1 ? 1970/2",
		"0 0-59 0-23 * * ?": "0 * * * * ?",
	} {
		requireSame(t, same, text, cronexpr.Quartz)
	}
}

func TestRunsOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0 30 * * * ?": true, "0 30 */2 * * ?": true, "0 30 1/2 * * ?": true, "0 */10 1 * * ?": true, "*/5 30 1 * * ?": true,
		"0 30 0-23 * * ?": true, "0 * 1 * * ?": true, "0 30 1 * * ?": false, "0 30 1-3 * * ?": false, "0 0,30 1 * * ?": false,
		"0 30 23/5 * * ?": false,
	} {
		require.Equal(t, want, parse(t, text, cronexpr.Quartz).RunsOn(), text)
	}
}

func TestLengthIsBounded(t *testing.T) {
	t.Parallel()
	_, err := cronexpr.Parse("0 "+strings.Repeat("1,", 100_000)+"1 * * * ?", cronexpr.Quartz)
	require.ErrorContains(t, err, "longer than 200")
	require.Less(t, len(err.Error()), 300)
}
