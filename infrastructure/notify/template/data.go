package template

import (
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// The bounds of texts in the data of templates, in bytes.
const (
	maxName    = 256
	maxSummary = 4 << 10
	maxURL     = 2 << 10
	// maxLabels is how many labels of an alert a text shows.
	maxLabels = 20
	// maxCounts is how many types a message counts, and maxCause what it shows of an error, in characters.
	maxCounts = 6
	maxCause  = 120
)

// timeLayout is how data hold times: in the time zone of the server.
const timeLayout = "2006-01-02 15:04:05 -07:00"

// Data is what templates read. It holds plain values: no template can call anything through it.
type Data struct {
	// Firing is false once all alerts are resolved.
	Firing bool
	// Level is INFO, WARNING or CRITICAL, LevelName its name in the language of the message.
	Level     string
	LevelName string
	// Subject is what all alerts are about, TypeName what is the matter with it.
	Subject  string
	TypeName string
	// Total counts the alerts, Omitted those that are not in Alerts.
	Total       int
	Omitted     int
	Time        string
	URL         string
	GroupLabels map[string]string
	Alerts      []Alert
	// Counts say of many alerts what they are about, the most frequent type first; Uncounted older alerts are
	// in none of them. Few alerts have none.
	Counts    []Count
	Uncounted int
}

// Count is how many alerts are of one type.
type Count struct {
	Type     string
	TypeName string
	Count    int
	// Groups is in how many groups of jobs they are, Group the one with most of them.
	Groups int
	Group  string
	// Cause is an error of the most frequent cause, of CauseCount alerts.
	Cause      string
	CauseCount int
}

// Alert is one alert of the data.
type Alert struct {
	Type        string
	TypeName    string
	Level       string
	LevelName   string
	Status      string
	Resolved    bool
	Subject     string
	RuleName    string
	Group       string
	JobID       string
	JobName     string
	Owner       string
	ExecutionID string
	NodeID      string
	Summary     string
	Labels      map[string]string
	Count       int
	StartTime   string
	// EndTime is "" while the alert is open.
	EndTime string
	// DurationSec is from start to end, or to the time of the message.
	DurationSec int
	URL         string
	RunbookURL  string
}

func newData(m alert.Message, w words, zone *time.Location) Data {
	listed, counted := m.Alerts[:min(len(m.Alerts), alert.MaxMessageAlerts)], 0
	several := false
	d := Data{
		Firing: m.Firing, Level: name(m.Level), LevelName: w.level(name(m.Level)), Total: max(m.Total, len(m.Alerts)),
		Time: moment(m.Time, zone), URL: address(m.URL), GroupLabels: labels(m.GroupLabels),
		Alerts: make([]Alert, len(listed)),
	}
	d.Omitted = d.Total - len(listed)
	for _, c := range m.Counts[:min(len(m.Counts), maxCounts)] {
		d.Counts = append(d.Counts, Count{
			Type: name(c.Type), TypeName: w.kind(name(c.Type)), Count: c.Count, Groups: c.Groups, Group: name(c.Group),
			Cause: markup.Cut(markup.Line(c.Cause), maxCause, markup.Runes), CauseCount: c.CauseCount,
		})
		counted += c.Count
	}
	if len(d.Counts) > 1 {
		several = true // also where the alerts that are listed are of one type
	}
	if len(d.Counts) > 0 {
		d.Uncounted = max(d.Total-counted, 0)
	}
	for i, a := range listed {
		out := Alert{
			Type: name(a.Type), TypeName: w.kind(name(a.Type)), Level: name(a.Level), LevelName: w.level(name(a.Level)),
			Status: name(a.Status), Resolved: !a.EndTime.IsZero(), RuleName: name(a.RuleName), Group: name(a.Group),
			JobID: name(a.JobID), JobName: name(a.JobName), Owner: name(a.Owner), ExecutionID: name(a.ExecutionID),
			NodeID:  name(a.NodeID),
			Summary: validation.Text(w.says(a), maxSummary), Labels: labels(a.Labels), Count: a.Count,
			StartTime: moment(a.StartTime, zone), EndTime: moment(a.EndTime, zone), URL: address(a.URL),
			RunbookURL: address(a.RunbookURL),
		}
		end := a.EndTime
		if end.IsZero() {
			end = m.Time
		}
		out.DurationSec = int(max(end.Sub(a.StartTime), 0) / time.Second)
		for _, subject := range []string{out.JobName, out.NodeID, out.Group} {
			if out.Subject == "" {
				out.Subject = subject
			}
		}
		d.Alerts[i] = out
		if i == 0 {
			d.Subject, d.TypeName = out.Subject, out.TypeName
		}
		if d.Subject != out.Subject {
			d.Subject = ""
		}
		if several || d.TypeName != out.TypeName {
			d.TypeName = w.word("alerts")
		}
	}
	return d
}

// first returns the data with the first alerts alone; the others count as omitted.
func (d Data) first(n int) Data {
	d.Alerts, d.Omitted = d.Alerts[:n], d.Total-n
	return d
}

func name(s string) string { return validation.Text(s, maxName) }

func address(s string) string { return validation.Text(s, maxURL) }

func moment(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format(timeLayout)
}

func labels(in map[string]string) map[string]string {
	out := make(map[string]string, min(len(in), maxLabels))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		if len(out) == maxLabels {
			break
		}
		out[name(k)] = name(in[k])
	}
	return out
}
