// Package slack sends messages through incoming webhooks of Slack, and of services that take the
// same, such as Mattermost.
package slack

import (
	"context"
	"regexp"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxText and maxTitle are Slack's bounds of a section and of a header, in characters.
	maxText     = 3000
	maxTitle    = 150
	maxMentions = 20
)

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address; whoever knows it may post.
	Webhook channelconfig.Secret `json:"webhook"`
	// Mentions are people and groups to call: ids, or here, channel and everyone.
	Mentions []string `json:"mentions"`
}

// Target names the fields that say where secrets are sent; the address itself is secret.
func Target() []string { return nil }

var mention = regexp.MustCompile(`^(here|channel|everyone|[UW][A-Z0-9]{1,30}|S[A-Z0-9]{1,30})$`)

// Channel is one webhook. Safe for concurrent use.
type Channel struct {
	config Config
	mask   channelconfig.Mask
	client *post.Client
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c := &Channel{client: client}
	if wrong := channelconfig.Decode(text, &c.config); wrong != nil {
		return nil, wrong
	}
	p := &channelconfig.Problems{}
	p.URL("webhook", string(c.config.Webhook), client.Guard)
	p.Each("mentions", c.config.Mentions, maxMentions, mention,
		"the id of a person (U…, W…) or of a group (S…), or here, channel or everyone")
	c.mask = channelconfig.MaskOf(&c.config)
	return c, p.Fields()
}

type message struct {
	// Text is what notifications show; it is mrkdwn.
	Text   string  `json:"text"`
	Blocks []block `json:"blocks"`
}

type block struct {
	Type string `json:"type"`
	Text text   `json:"text"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Verbatim keeps Slack from making links and mentions of plain text.
	Verbatim bool `json:"verbatim,omitempty"`
}

// Send sends a message. Slack says with the status alone whether it took it.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.Slack.Title(m.Content), maxTitle, markup.Runes)
	at := c.mentions()
	section := markup.Cut(markup.Slack.Body(m.Content), maxText-len(at), markup.Runes) + at
	message := message{Text: markup.Slack.Escape(title)}
	if title != "" {
		message.Blocks = append(message.Blocks, block{Type: "header", Text: text{Type: "plain_text", Text: title}})
	}
	if section != "" {
		message.Blocks = append(message.Blocks, block{
			Type: "section", Text: text{Type: "mrkdwn", Text: section, Verbatim: true},
		})
	}
	body, err := post.JSON(message)
	return c.client.Deliver(ctx, string(c.config.Webhook), c.mask, body, err, post.Answer.Result)
}

func (c *Channel) mentions() string {
	var b strings.Builder
	for _, who := range c.config.Mentions {
		switch who[0] {
		case 'U', 'W':
			b.WriteString(" <@" + who + ">")
		case 'S':
			b.WriteString(" <!subteam^" + who + ">")
		default:
			b.WriteString(" <!" + who + ">")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()[1:]
}
