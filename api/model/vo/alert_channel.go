package vo

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Channel is a way to tell people, or a program, of alerts.
type Channel struct {
	SettingHead
	Type     alert.ChannelType `json:"type"`
	Language string            `json:"language"`
	// Config is the configuration without its secrets, and secrets names those that it has. For
	// callers who may not write the channel it has neither: the path of an address may be a key.
	Config  map[string]any `json:"config" swaggertype:"object"`
	Secrets []string       `json:"secrets"`
}

// FromChannel makes the view of a channel for a caller.
func FromChannel(c *alert.Channel, who entity.Principal) Channel {
	out := Channel{
		SettingHead: headOf(c.Head), Type: c.Type, Language: c.Language, Config: map[string]any{}, Secrets: []string{},
	}
	if !permission.AllowsFor(who, permission.ChannelWrite, c.Group) {
		return out
	}
	if c.Public != nil {
		out.Config = c.Public
	}
	out.Secrets = whole(c.Secrets)
	return out
}

// Noted is the view that the audit log keeps: of an address no path, which may be a key. A print
// stands for it, so that a change is seen.
func (c Channel) Noted() Channel {
	config := maps.Clone(c.Config)
	for name, value := range config {
		text, _ := value.(string)
		u, err := url.Parse(text)
		if err != nil || u.Scheme == "" || u.Host == "" || len(u.Path) < 2 && u.RawQuery == "" {
			continue
		}
		sum := sha256.Sum256([]byte(u.RequestURI()))
		config[name] = u.Scheme + "://" + u.Host + "/***" + hex.EncodeToString(sum[:4])
	}
	c.Config = config
	return c
}

// ChannelTest is what became of a test message.
type ChannelTest struct {
	Result alert.Result `json:"result" enums:"SENT,REFUSED,FAILED,UNKNOWN"`
	// Code is for programs, such as http_503; "" for SENT. Message says what happened.
	Code       string `json:"code"`
	Message    string `json:"message"`
	DurationMS int64  `json:"durationMs"`
}

// FromTrial makes the view of a test.
func FromTrial(t channel.Trial) ChannelTest {
	return ChannelTest{Result: t.Result, Code: t.Code, Message: t.Text, DurationMS: t.Took.Milliseconds()}
}

// Message is a message of a sample alert.
type Message struct {
	Title    string `json:"title"`
	Text     string `json:"text"`
	HTML     string `json:"html"`
	Markdown string `json:"markdown"`
}

// FromContent makes the view of a message.
func FromContent(c alert.Content) Message {
	return Message{Title: c.Title, Text: c.Text, HTML: c.HTML, Markdown: c.Markdown}
}
