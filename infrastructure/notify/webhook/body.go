package webhook

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

// The bounds of texts in a body, in bytes.
const (
	maxText  = 4 << 10
	maxLabel = 1 << 10
)

// version is that of the body; additions do not change it.
const version = "1"

// body is what receivers get.
type body struct {
	Version     string            `json:"version"`
	Status      string            `json:"status"`
	GroupLabels map[string]string `json:"groupLabels"`
	Alerts      []item            `json:"alerts"`
	// Truncated is how many alerts of the message are not listed.
	Truncated   int    `json:"truncatedAlerts"`
	ExternalURL string `json:"externalUrl,omitempty"`
}

type item struct {
	ID          string            `json:"id"`
	Fingerprint string            `json:"fingerprint"`
	Type        string            `json:"alertType"`
	Level       string            `json:"alertLevel"`
	Status      string            `json:"status"`
	RuleName    string            `json:"ruleName,omitempty"`
	Group       string            `json:"group,omitempty"`
	JobID       string            `json:"jobId,omitempty"`
	JobName     string            `json:"jobName,omitempty"`
	Owner       string            `json:"owner,omitempty"`
	ExecutionID string            `json:"executionId,omitempty"`
	NodeID      string            `json:"nodeId,omitempty"`
	Content     string            `json:"content"`
	Labels      map[string]string `json:"labels"`
	Count       int               `json:"count"`
	StartTime   string            `json:"startTime"`
	EndTime     *string           `json:"endTime"`
	URL         string            `json:"url,omitempty"`
	RunbookURL  string            `json:"runbookUrl,omitempty"`
}

func encode(m alert.Message) ([]byte, error) {
	listed := m.Alerts[:min(len(m.Alerts), alert.MaxMessageAlerts)]
	b := body{
		Version: version, Status: "resolved", GroupLabels: clean(m.GroupLabels), Alerts: make([]item, len(listed)),
		Truncated: max(m.Total, len(m.Alerts)) - len(listed), ExternalURL: m.URL,
	}
	if m.Firing {
		b.Status = "firing"
	}
	for i, a := range listed {
		b.Alerts[i] = item{
			ID: a.ID, Fingerprint: a.Fingerprint, Type: a.Type, Level: a.Level, Status: a.Status,
			RuleName: validation.Text(a.RuleName, maxLabel), Group: validation.Text(a.Group, maxLabel), JobID: a.JobID,
			JobName: validation.Text(a.JobName, maxLabel), Owner: validation.Text(a.Owner, maxLabel),
			ExecutionID: a.ExecutionID, NodeID: a.NodeID,
			Content: validation.Text(a.Summary, maxText), Labels: clean(a.Labels), Count: a.Count,
			StartTime: moment(a.StartTime), URL: a.URL, RunbookURL: a.RunbookURL,
		}
		if !a.EndTime.IsZero() {
			end := moment(a.EndTime)
			b.Alerts[i].EndTime = &end
		}
	}
	return post.JSON(b)
}

// moment writes a time as the API does.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func clean(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for name, value := range labels {
		out[validation.Text(name, maxLabel)] = validation.Text(value, maxLabel)
	}
	return out
}
