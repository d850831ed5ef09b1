// Package alertmanager posts alerts to a Prometheus Alertmanager, which routes them further.
package alertmanager

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// defaultFiringForSec is how long an Alertmanager takes an alert for firing without news of it.
	defaultFiringForSec = 24 * 60 * 60
	minFiringSec        = 60
	maxFiringSec        = 30 * 24 * 60 * 60
	// The bounds of texts, in bytes.
	maxValue      = 1 << 10
	maxSummary    = 4 << 10
	maxCredential = 4 << 10
	path          = "/api/v2/alerts"
)

// Config is the configuration of a channel.
type Config struct {
	// URL is the address of the Alertmanager, without /api/v2/alerts.
	URL      string               `json:"url" required:"true"`
	Username string               `json:"username"`
	Password channelconfig.Secret `json:"password"`
	// Token is a bearer token, in place of user and password.
	Token channelconfig.Secret `json:"token"`
	// FiringForSec is how long an alert fires there unless it is resolved before.
	FiringForSec int `json:"firingForSec"`
}

// Channel is one Alertmanager. Safe for concurrent use.
type Channel struct{ post.Channel[Config] }

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	defaults := Config{FiringForSec: defaultFiringForSec}
	c, wrong := post.Open(text, client, defaults, func(c *Config, p *channelconfig.Problems) {
		if u := p.URL("url", c.URL, client.Guard); u != nil && u.RawQuery != "" {
			p.Add("url", validation.CodeInvalid, "remove the ? and what follows it")
		}
		if c.Token != "" && (c.Username != "" || c.Password != "") {
			p.Add("token", validation.CodeConflict, "give either a token, or a user and a password")
		}
		if (c.Username == "") != (c.Password == "") {
			p.Add("username", validation.CodeRequired, "a user and a password belong together")
		}
		if strings.Contains(c.Username, ":") {
			p.Add("username", validation.CodeInvalid, "must not contain a colon")
		}
		p.Length("username", c.Username, maxCredential)
		p.Length("password", string(c.Password), maxCredential)
		p.Length("token", string(c.Token), maxCredential)
		if s := c.FiringForSec; s < minFiringSec || s > maxFiringSec {
			p.Add("firingForSec", validation.CodeOutOfRange, "must be from %d to %d", minFiringSec, maxFiringSec)
		}
	})
	c.Mask = c.Mask.With(c.Config.basic())
	return &Channel{c}, wrong
}

// item is an alert as Alertmanager takes it.
type item struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// Send posts the alerts of a message, the oldest first: of two episodes of one fingerprint, whose labels are equal,
// Alertmanager keeps the one that it takes last. The status alone says whether they were taken.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	listed := slices.Clone(m.Alerts[:min(len(m.Alerts), alert.MaxMessageAlerts)])
	slices.SortFunc(listed, func(a, b alert.MessageAlert) int { return strings.Compare(a.ID, b.ID) })
	items := make([]item, 0, len(listed))
	for _, a := range listed {
		items = append(items, c.item(a, m.URL))
	}
	header := http.Header{}
	switch {
	case c.Config.Token != "":
		header.Set("Authorization", "Bearer "+string(c.Config.Token))
	case c.Config.Password != "":
		header.Set("Authorization", "Basic "+c.Config.basic())
	}
	return c.Deliver(ctx, post.Letter{
		URL: strings.TrimSuffix(c.Config.URL, "/") + path, Header: header, Message: items,
		Listed: markup.IDs(listed), Result: post.Answer.Result,
	})
}

// basic is user and password as HTTP sends them.
func (c Config) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + string(c.Password)))
}

func (c *Channel) item(a alert.MessageAlert, consoleURL string) item {
	labels := map[string]string{}
	for name, value := range a.Labels {
		set(labels, labelName(name), value)
	}
	for name, value := range map[string]string{
		"alertname": a.Type, "severity": strings.ToLower(a.Level), "rule": a.RuleName, "group": a.Group, "job": a.JobName,
		"job_id": a.JobID, "node": a.NodeID, "fingerprint": a.Fingerprint,
	} {
		set(labels, name, value)
	}
	annotations := map[string]string{"summary": validation.Text(a.Summary, maxSummary)}
	set(annotations, "owner", a.Owner)
	set(annotations, "execution_id", a.ExecutionID)
	set(annotations, "runbook_url", a.RunbookURL)
	out := item{
		Labels: labels, Annotations: annotations, StartsAt: a.StartTime.UTC(), EndsAt: a.EndTime.UTC(),
		GeneratorURL: a.URL,
	}
	if out.GeneratorURL == "" {
		out.GeneratorURL = consoleURL
	}
	switch {
	case a.EndTime.Before(a.StartTime) && !a.EndTime.IsZero(): // a clock was set back; it would be refused
		out.EndsAt = out.StartsAt
	case a.EndTime.IsZero():
		out.EndsAt = c.Client.Clock.Now().Add(time.Duration(c.Config.FiringForSec) * time.Second).UTC()
	}
	return out
}

// set leaves out empty values: for Alertmanager they are no labels.
func set(labels map[string]string, name, value string) {
	if value = validation.Text(value, maxValue); value != "" && name != "" {
		labels[name] = value
	}
}

var notInName = regexp.MustCompile(`[^0-9A-Za-z_]`)

// labelName makes a name that Alertmanager takes.
func labelName(name string) string {
	name = notInName.ReplaceAllString(validation.Text(name, 100), "_")
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}
