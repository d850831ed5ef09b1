package jobs

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

var preview = remote.Verb{
	Use: "preview", Short: "Show when a schedule would fire; nothing is stored",
	Long: "Show when a schedule would fire, in its own zone, or in UTC with --utc. --schedule\ntakes one as a job " +
		"has it.",
	Example: "schedule preview --cron \"0 0 9 ? * MON-FRI\" --zone Asia/Shanghai --count 5\n" +
		"schedule preview --cron \"*/5 * * * *\" --dialect UNIX\nschedule preview --every 90s\n" +
		"schedule preview --schedule '{\"kind\": \"ONCE\", \"at\": \"2030-01-01T00:00:00Z\"}'",
	Own: []remote.Flag{
		{Name: "cron", Help: "a cron expression"},
		{Name: "dialect", Help: "of the expression: QUARTZ (with seconds) or UNIX"},
		{Name: "zone", Help: "its time `ZONE`, such as Asia/Shanghai; by default the server's"},
		{Name: "every", Help: "a fixed rate, as a `TIME` such as 90s"},
		{Name: "schedule", Help: "a schedule in the form of a job, a JSON `OBJECT`"},
		{Name: "from", Help: "count from this `TIME` on; by default from now"},
	},
	Flags:  []remote.Flag{{Name: "count", Default: 10, Help: "how many times, at most 1000"}},
	Method: "POST", Path: "/schedules/preview", Body: scheduleBody,
	Show: func(k *remote.Call, o remote.Object) {
		if o.Has("description") {
			k.Note("{description}", o)
		}
		k.Times(o.Texts("fireTimes"))
	},
}

// scheduleBody is what the API takes: the schedule, and the first moment in its zone.
func scheduleBody(k *remote.Call, params map[string]any) (_ any, err error) {
	schedule := map[string]any{}
	cron, every, whole := k.Given("cron"), k.Given("every"), k.Given("schedule")
	switch {
	case len(slices.DeleteFunc([]string{cron, every, whole}, func(s string) bool { return s == "" })) != 1:
		return nil, usage.Errorf("give one of --cron, --every and --schedule")
	case cron != "":
		schedule["kind"], schedule["cronExpression"] = "CRON", cron
	case every != "":
		length, err := time.ParseDuration(every)
		if err != nil {
			return nil, usage.Errorf("--every must be a span such as 90s or 2h, not %q", every)
		}
		schedule["kind"], schedule["intervalMs"] = "FIXED_RATE", length.Milliseconds()
	default:
		if err := json.Unmarshal([]byte(whole), &schedule); err != nil || schedule == nil {
			return nil, usage.Errorf("--schedule is a JSON object, such as '{\"kind\": \"FIXED_RATE\", \"intervalMs\": " +
				"60000}'")
		}
	}
	if dialect := k.Given("dialect"); dialect != "" {
		schedule["dialect"] = strings.ToUpper(dialect)
	}
	if zone := k.Given("zone"); zone != "" {
		schedule["timeZone"] = zone
	}
	params["schedule"] = schedule
	k.ZoneName, _ = schedule["timeZone"].(string)
	from, err := k.At("from", k.ZoneName)
	if !from.IsZero() {
		params["from"] = remote.Sent(from)
	}
	return params, err
}

// loadBar is the length of the bar of the fullest minute.
const loadBar = 40

// missing is said of counts that hit their bound.
func missing(k *remote.Call, o remote.Object) {
	if !o.Is("complete") {
		k.Notef("there was too much to count: fires are missing")
	}
}

var load = remote.Verb{
	Use: "load", Short: "Show how many fires are planned in each minute",
	Long: "Show how many fires of all enabled jobs are planned in each minute to come. Minutes\nwithout any are " +
		"left out.",
	Example: "schedule load --minutes 60\nschedule load --group reports --from \"2026-11-16 02:00\" --minutes 180",
	Flags: []remote.Flag{
		{Name: "group", Help: "only the jobs of this group"},
		{Name: "from", To: remote.Moment, Help: "begin at this `TIME`; by default with the current minute"},
		{Name: "minutes", Default: 0, Help: "how many minutes, at most 10080; by default a day"},
	},
	Path: "/schedules/load",
	Show: func(k *remote.Call, o remote.Object) {
		var busy []remote.Object
		for _, m := range o.List("items") {
			if fires := m.Int("fires"); fires > 0 {
				m["bar"] = strings.Repeat("#", int(max(1, fires*loadBar/o.Int("peak.fires"))))
				busy = append(busy, m)
			}
		}
		k.Table("minute=time|moment, fires, =bar", busy)
		k.Note("{jobs} (job|jobs); the fullest minute is {peak.time|moment} with {peak.fires} (fire|fires)", o)
		missing(k, o)
	},
}

var spread = remote.Verb{
	Use: "spread MINUTE", Short: "Give the jobs that fire in a minute a jitter, so that they spread",
	Long: "Give each enabled job that fires in a minute a jitter. Jobs with as much keep theirs, and\nso do " +
		"those whose interval is not longer. One call treats 500 jobs.",
	Example: "schedule spread \"2026-11-16 02:00\" --jitter 10m --dry-run\n" +
		"schedule spread \"2026-11-16 02:00\" --jitter 10m --group reports",
	Flags: []remote.Flag{
		{
			Name: "jitter", As: "jitterMs", Default: 5 * time.Minute,
			Help: "the greatest delay, as a `TIME` such as 10m",
		},
		{Name: "group", Help: "only the jobs of this group"},
		{Name: "dry-run", As: "dryRun", Default: false, Help: "show what would change, and change nothing"},
	},
	Method: "POST", Path: "/schedules/spread", Show: showSpread,
	Body: func(k *remote.Call, params map[string]any) (any, error) {
		minute, err := k.Time(remote.Input{Flag: "MINUTE", Text: k.Args[0]}, "")
		params["minute"] = remote.Sent(minute)
		return params, err
	},
}

// showSpread shows what a jitter does to the jobs of a minute.
func showSpread(k *remote.Call, o remote.Object) {
	minutes, after := o.List("before"), o.List("after")
	for i, m := range minutes {
		m["after"] = after[i]["fires"]
	}
	k.Table("minute=time|moment, before=fires, after", minutes)
	k.Note("{jobs|count} jobs get the jitter, {kept} keep what they have", o)
	if o.Is("more") {
		k.Notef("there are more jobs: call again")
	}
	missing(k, o)
	if o.Has("result") {
		k.Note("{result.succeeded} done, {result.failed} not", o)
	}
	for _, item := range o.List("result.items") {
		if !item.Is("ok") {
			k.Note("{id}: {message}", item)
		}
	}
}
