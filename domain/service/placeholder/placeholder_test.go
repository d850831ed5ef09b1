package placeholder_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

func run(zone, params string) entity.Run {
	job := &entity.Job{ID: "job-1", Name: `a "b"`, Group: "billing", Owner: "ann"}
	job.Schedule.TimeZone = zone
	return entity.Run{
		Job: job,
		Execution: &entity.Execution{
			ID: "x-1", RootID: "x-0", Checkpoint: `row "7"`, Attempt: 2, ShardIndex: 1, ShardTotal: 3, Params: params,
			ScheduledTime: time.Date(2026, 3, 31, 22, 5, 9, 7_000_000, time.UTC),
		},
		Secrets:  map[string]string{"db.key": "s3cr&t"},
		Deadline: time.Date(2026, 3, 31, 22, 6, 0, 0, time.UTC),
	}
}

func TestExpandPutsValuesIntoTexts(t *testing.T) {
	t.Parallel()
	values := placeholder.Of(run("Asia/Shanghai",
		`{"day":"x y","n":7,"o":{"a":[1]},"nil":null,"big":12345678901234567890}`))
	cases := map[string]string{
		"":                        "",
		"plain $ {x} $x }":        "plain $ {x} $x }",
		"${executionId}/${jobId}": "x-1/job-1",
		"${jobName}":              `a "b"`,
		"${group}/${owner}":       "billing/ann",
		"${deadline}":             "2026-03-31T22:06:00.000Z",
		"${checkpoint}":           `row "7"`,
		"<${params}>":             `<{"day":"x y","n":7,"o":{"a":[1]},"nil":null,"big":12345678901234567890}>`,
		"${attempt} ${shardIndex}/${shardTotal} ${idempotencyKey}": "2 1/3 x-0",
		"$${HOME} ${attempt}":      "${HOME} 2",
		"$$${attempt}":             "$${attempt}",
		"${params.day}":            "x y",
		"${params.n}${params.big}": "712345678901234567890",
		"${params.o}":              `{"a":[1]}`,
		"${params.no:-}":           "",
		"${params.no:-it's}":       "it's",
		"${params.nil:-none}":      "none",
		"${params.day:-none}":      "x y",
		"${secret.db.key}":         "s3cr&t",
		"${scheduledTime}":         "2026-03-31T22:05:09.007Z",
		"${scheduledTime:yyyy-MM-dd'T'HH:mm:ss.SSSXXX}": "2026-04-01T06:05:09.007+08:00",
		"${scheduledTime:yyMMdd DDD}":                   "260401 091",
		"${scheduledTime:'}'yyyy''}":                    "}2026'",
		"${scheduledTime:epochMs}":                      "1774994709007",
		"${scheduledTime-1s:epochSec}":                  "1774994708",
		"${scheduledTime-1d:yyyyMMdd}":                  "20260331",
		"${scheduledTime-1d+2h:HH}":                     "08",
		"${scheduledTime+30m}":                          "2026-03-31T22:35:09.007Z",
		"${scheduledTime-1w:MMdd}":                      "0325",
		"${scheduledTime-1y:yyyyMMdd}":                  "20250401",
	}
	for text, want := range cases {
		got, err := placeholder.Expand(text, values, placeholder.Raw)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestMonthsEndOnTheirLastDay(t *testing.T) {
	t.Parallel()
	values := placeholder.Of(run("UTC", ""))
	for text, want := range map[string]string{
		"${scheduledTime-1M:yyyy-MM-dd}":     "2026-02-28",
		"${scheduledTime-25M:yyyy-MM-dd}":    "2024-02-29",
		"${scheduledTime+1M:yyyy-MM-dd}":     "2026-04-30",
		"${scheduledTime-1M-1d:yyyy-MM-dd}":  "2026-02-27",
		"${scheduledTime+2M:yyyy-MM-dd}":     "2026-05-31",
		"${scheduledTime+1y-13M:yyyy-MM-dd}": "2026-02-28",
	} {
		got, err := placeholder.Expand(text, values, placeholder.Raw)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
}

func TestDaysAreThoseOfTheZone(t *testing.T) {
	t.Parallel()
	r := run("Europe/Berlin", "")
	r.Execution.ScheduledTime = time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC) // the night of the change
	got, err := placeholder.Expand("${scheduledTime-1d:yyyy-MM-dd HH:mm} ${scheduledTime+24h:yyyy-MM-dd HH:mm}",
		placeholder.Of(r), placeholder.Raw)
	require.NoError(t, err)
	require.Equal(t, "2026-03-28 01:30 2026-03-30 02:30", got)
}

// A shift by the calendar goes by the date and the time that clocks show. The expected values are the
// calendar's; the instants are those of the tz database.
func TestShiftsGoByTheCalendarWhereClocksChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, text, want string }{
		// 2026-03-08 begins at 01:00 in Havana.
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2026-03-08"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d:yyyy-MM-dd HH:mm XXX}", "2026-03-08 01:00 -04:00"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d}", "2026-03-08T05:00:00.000Z"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d:epochSec}", "1772946000"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-2d:yyyy-MM-dd HH:mm}", "2026-03-07 00:00"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d-1d:yyyy-MM-dd HH:mm}", "2026-03-07 00:00"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d+1d:yyyy-MM-dd HH:mm}", "2026-03-09 00:00"},
		{"America/Havana", "2026-03-09T04:00:00Z", "${scheduledTime-1d+2h:yyyy-MM-dd HH:mm}", "2026-03-08 03:00"},
		{"America/Havana", "2026-03-07T05:00:00Z", "${scheduledTime+1d:yyyyMMdd DDD}", "20260308 067"},
		{"America/Havana", "2026-04-08T04:00:00Z", "${scheduledTime-1M:yyyy-MM}", "2026-03"},
		{"America/Havana", "2026-03-15T04:00:00Z", "${scheduledTime-1w:yyyy-MM-dd}", "2026-03-08"},
		{"America/Havana", "2027-03-08T05:00:00Z", "${scheduledTime-1y:yyyy-MM-dd}", "2026-03-08"},
		{"America/Havana", "2026-11-02T05:00:00Z", "${scheduledTime-1d}", "2026-11-01T04:00:00.000Z"}, // of two the earlier
		{"America/Santiago", "2024-09-09T03:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2024-09-08"},
		{"Atlantic/Azores", "2026-03-30T00:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2026-03-29"},
		{"Atlantic/Azores", "2026-04-29T00:00:00Z", "${scheduledTime-1M:yyyyMMdd}", "20260329"},
		{"America/Asuncion", "2023-10-02T03:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2023-10-01"},
		{"America/Asuncion", "2023-11-01T03:00:00Z", "${scheduledTime-1M:yyyy-MM}", "2023-10"},
		{"America/Sao_Paulo", "2017-10-16T02:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2017-10-15"},
		{"Asia/Beirut", "2024-03-31T22:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2024-03-31"},
		// There was no 30 December 2011.
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2011-12-30"},
		{"Pacific/Apia", "2011-12-30T19:30:00Z", "${scheduledTime-1d:yyyy-MM-dd HH:mm XXX}", "2011-12-30 09:30 +14:00"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "${scheduledTime-1d}", "2011-12-30T10:00:00.000Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "${scheduledTime-2d:yyyy-MM-dd}", "2011-12-29"},
		{"Pacific/Apia", "2012-01-30T10:00:00Z", "${scheduledTime-1M-1d:yyyy-MM-dd}", "2011-12-30"},
		// From 23:00 to midnight in Nuuk.
		{"America/Nuuk", "2024-04-01T00:30:00Z", "${scheduledTime-1d:yyyy-MM-dd}", "2024-03-30"},
		// A time that is not shifted is the one that clocks show, also the second time.
		{"America/Havana", "2026-11-01T05:30:00Z", "${scheduledTime:yyyy-MM-dd HH:mm XXX}", "2026-11-01 00:30 -05:00"},
	} {
		r := run(c.zone, "")
		at, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		r.Execution.ScheduledTime = at
		got, err := placeholder.Expand(c.text, placeholder.Of(r), placeholder.Raw)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s %s %s", c.zone, c.at, c.text)
	}
}

func TestExpandRefusesWhatHasNoValue(t *testing.T) {
	t.Parallel()
	values := placeholder.Of(run("UTC", `{"a":1}`))
	for text, message := range map[string]string{
		"${":                        "is not closed",
		"${attempt":                 "is not closed",
		"${}":                       "is no placeholder",
		"${HOME}":                   "Write $${ for the characters ${",
		"${ attempt}":               "is no placeholder",
		"${shardIndex, shardTotal}": "is no placeholder",
		"${params:-x}":              "is no placeholder",
		"${checkpoint:-x}":          "is no placeholder",
		"${params.}":                "1 to 50 letters",
		"${params.a b}":             "1 to 50 letters",
		"${params.b}":               "was not given the parameter b",
		"${secret.}":                "1 to 50 letters",
		"${secret.a/b}":             "1 to 50 letters",
		"${secret.none}":            "no secret named none",
		"${secret." + strings.Repeat("a", 51) + "}": "1 to 50 letters",
		"${scheduledTime:}":                         "give a format",
		"${scheduledTime:YYYY}":                     `"YYYY" means nothing`,
		"${scheduledTime:yyyyy}":                    "means nothing",
		"${scheduledTime:yyyy'T}":                   "a quote is not closed",
		"${scheduledTime 1d}":                       "shift it by",
		"${scheduledTime-d}":                        "shift it by",
		"${scheduledTime-1}":                        "shift it by",
		"${scheduledTime-1x}":                       "shift it by",
		"${scheduledTime-100001d}":                  "shift it by",
		"${scheduledTime-99999999999999999999d}":    "shift it by",
		"${scheduledTime-1d-1d-1d-1d-1d-1d}":        "shift it by",
		strings.Repeat("${attempt}", 1001):          "at most 1000",
	} {
		_, err := placeholder.Expand(text, values, placeholder.Raw)
		var wrong *placeholder.Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, err.Error(), message, text)
		require.Less(t, len(err.Error()), 400)
	}
}

func TestSamplesStandForWhatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	values := placeholder.Samples(&entity.Job{ID: "j"})
	got, err := placeholder.Expand("${params.a}/${secret.b}/${params.c:-d}", values, placeholder.Raw)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(placeholder.Sample+"/", 3), got+"/")
	_, err = placeholder.Expand("${scheduledTime:Q}", values, placeholder.Raw)
	require.Error(t, err)
}

func TestEscapesKeepAValueInItsPlace(t *testing.T) {
	t.Parallel()
	evil := `a/b?c=d&e#f%g"h\i` + "\n é+@"
	params, err := json.Marshal(map[string]string{"v": evil, "u": "https://h/p?q=1"})
	require.NoError(t, err)
	values := placeholder.Of(run("UTC", string(params)))

	text, err := placeholder.Expand("https://h/x/${params.v}?y=${params.v}&z=1", values, placeholder.URL)
	require.NoError(t, err)
	u, err := url.Parse(text)
	require.NoError(t, err)
	require.Equal(t, "h", u.Host)
	require.Equal(t, "/x/"+evil, u.Path)
	require.Equal(t, url.Values{"y": {evil}, "z": {"1"}}, u.Query())
	require.Empty(t, u.Fragment)

	text, err = placeholder.Expand("${params.u}&r=2", values, placeholder.URL)
	require.NoError(t, err)
	require.Equal(t, "https://h/p?q=1&r=2", text)

	body := `{"k":"<${params.v}>"}`
	text, err = placeholder.Expand(body, values, placeholder.Body("", body))
	require.NoError(t, err)
	var got map[string]string
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, map[string]string{"k": "<" + evil + ">"}, got)

	text, err = placeholder.Expand("k=${params.v}", values, placeholder.Body("", "k=${params.v}"))
	require.NoError(t, err)
	require.Equal(t, "k="+evil, text)
}

// A body may hold the parameters as the object that they are; every other value
// stays inside its text.
func TestParametersStandInABodyAsJSON(t *testing.T) {
	t.Parallel()
	for params, c := range map[string]struct{ body, want string }{
		`{"a":"x\"y"}`: {
			`{"who": "a \\ \"${owner}\"", "all": ${params}, "text": "${params}", "list": [${params}], "last": "${checkpoint}"}`,
			`{"who": "a \\ \"ann\"", "all": {"a":"x\"y"}, "text": "{\"a\":\"x\\\"y\"}", "list": [{"a":"x\"y"}], "last": "row \"7\""}`,
		},
		"": {`${params}`, `{}`},
	} {
		got, err := placeholder.Expand(c.body, placeholder.Of(run("UTC", params)), placeholder.Body("", c.body))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		require.True(t, json.Valid([]byte(got)))
	}
	form := "p=${params}&c=${checkpoint}"
	got, err := placeholder.Expand(form, placeholder.Of(run("UTC", `{"a":1}`)), placeholder.Body("", form))
	require.NoError(t, err)
	require.Equal(t, `p={"a":1}&c=row "7"`, got, "what is no JSON is left as it is")
}

func TestARunWithoutALimitHasNoDeadline(t *testing.T) {
	t.Parallel()
	r := run("UTC", "")
	r.Deadline, r.Execution.Checkpoint = time.Time{}, ""
	got, err := placeholder.Expand("<${deadline}${checkpoint}>", placeholder.Of(r), placeholder.Raw)
	require.NoError(t, err)
	require.Equal(t, "<>", got)
}

// A definition is checked with samples where the values are not known yet.
func TestSamplesAreJSONWhereValuesAre(t *testing.T) {
	t.Parallel()
	body := `{"all": ${params}, "last": "${checkpoint}", "until": "${deadline}"}`
	got, err := placeholder.Expand(body, placeholder.Samples(&entity.Job{}), placeholder.Body("", body))
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(got)), got)
	require.Contains(t, got, placeholder.Sample)
}

func TestSecretNamesAreThoseOfTheTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a", "b.c-d_E"},
		placeholder.SecretNames(
			`{"x":"${secret.b.c-d_E} ${secret.a}${secret.a}","y":"${secret.}${secret.no no}${params.z}${secret.open"}`))
	require.Empty(t, placeholder.SecretNames("plain"))
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{
		"${attempt}", "$${x}", "${scheduledTime-1d:yyyy'}'}", "${params.a:-'}",
		"${secret.db.key}", "${${}}", "${scheduledTime+100000y+100000y+100000y-100000M-9s:yyyyXXX}",
	} {
		f.Add(seed)
	}
	values := placeholder.Of(run("Asia/Shanghai", `{"a":"${attempt}"}`))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := placeholder.Expand(text, values, placeholder.Raw)
		if err != nil {
			require.Empty(t, got)
			return
		}
		if !placeholder.Holds(text) {
			require.Equal(t, text, got)
		}
		// A text that passes with values passes as a sample: the edge refuses nothing that would run.
		_, err = placeholder.Expand(text, placeholder.Samples(&entity.Job{}), placeholder.Raw)
		require.NoError(t, err)
	})
}
