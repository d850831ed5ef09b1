package notifying

import (
	"cmp"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// labelRunbook is the label of a rule or a job that leads to advice; without it, it is the page of the type.
const labelRunbook = "runbook_url"

// alertsPath is where the console shows alerts; the page of one has its id behind it.
const alertsPath = "/alerts"

// compose makes the message of a notification. Every attempt makes the same, but for what
// has happened to the alerts meanwhile. Base is the address of the console; "" makes no links.
func compose(n alert.Notification, told alert.Contents, groupBy []string, base string) alert.Message {
	m := alert.Message{
		ID: n.ID, Time: n.CreateTime, Firing: told.Firing > 0, Level: string(told.Level), Total: told.Total,
		To: n.To, Content: n.Body, Counts: countsOf(told.Newest),
	}
	if len(told.Newest) > 0 {
		m.Uncounted = max(told.Total-len(told.Newest), 0)
	}
	base = strings.TrimSuffix(base, "/")
	switch {
	case base == "" || told.Total == 0:
	case told.Total == 1 && len(told.Alerts) == 1:
		m.URL = base + alertsPath + "/" + told.Alerts[0].ID
	default:
		m.URL = base + alertsPath
	}
	for _, t := range told.Alerts {
		a := alert.MessageAlert{
			ID: t.ID, Fingerprint: t.Fingerprint, Type: string(t.Type), Level: string(t.Level), Status: string(t.Status),
			RuleName: t.Labels["rule"], Group: t.Group, JobID: t.JobID, JobName: t.Labels["job"],
			Owner: t.Details["owner"], ExecutionID: t.ExecutionID, NodeID: t.NodeID, Summary: t.Content,
			Details: t.Details, Labels: t.Labels, Count: t.Count,
			StartTime: t.StartTime, EndTime: t.EndTime, RunbookURL: cmp.Or(link(t.Labels[labelRunbook]), t.Type.RunbookURL()),
		}
		if base != "" {
			a.URL = base + alertsPath + "/" + t.ID
		}
		if t.LastExecutionID != "" {
			a.ExecutionID = t.LastExecutionID
		}
		if a.StartTime.IsZero() {
			a.StartTime = t.CreateTime
		}
		if t.AsFiring && t.Status == alert.Resolved { // a later message tells that it is over
			a.Status, a.EndTime = string(alert.Firing), time.Time{}
		}
		m.Alerts = append(m.Alerts, a)
	}
	m.GroupLabels = groupLabels(m.Alerts, groupBy)
	for i := range m.Alerts {
		m.Alerts[i].Labels = shown(m.Alerts[i].Labels)
	}
	return m
}

// groupLabels are those that made the alerts one group: what the route names, else what an
// alert is about.
func groupLabels(alerts []alert.MessageAlert, names []string) map[string]string {
	if len(alerts) == 0 {
		return nil
	}
	if len(names) == 0 {
		names = []string{"alertname", "group", "job", "node", "channel"}
	}
	out := map[string]string{}
	for _, name := range names {
		if value, ok := alerts[0].Labels[name]; ok {
			out[name] = value
		}
	}
	maps.DeleteFunc(out, func(name, value string) bool {
		for _, a := range alerts {
			if a.Labels[name] != value {
				return true
			}
		}
		return false
	})
	return out
}

// link lets addresses of the web pass alone: labels of jobs come from anybody.
func link(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
