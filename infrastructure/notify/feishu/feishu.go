// Package feishu sends messages through custom robots of Feishu and Lark.
package feishu

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxBody bounds a message, in bytes. Feishu takes 30 KB of a card, and its custom robots 20 KB of
	// a request.
	maxBody     = 20_000
	maxTitle    = 200
	maxMentions = 50
)

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its token.
	Webhook channelconfig.Secret `json:"webhook"`
	// Secret signs the calls; "" for robots that check words or addresses instead.
	Secret    channelconfig.Secret `json:"secret"`
	AtUserIDs []string             `json:"atUserIds"`
	AtAll     bool                 `json:"atAll"`
}

// Target names the fields that say where secrets are sent; the address itself is secret.
func Target() []string { return nil }

var userID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// Channel is one robot. Safe for concurrent use.
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
	p.Length("secret", string(c.config.Secret), 256)
	p.Each("atUserIds", c.config.AtUserIDs, maxMentions, userID, "an id of a user, such as ou_…")
	c.mask = channelconfig.MaskOf(&c.config)
	return c, p.Fields()
}

type message struct {
	Timestamp string `json:"timestamp,omitempty"`
	Sign      string `json:"sign,omitempty"`
	Type      string `json:"msg_type"`
	Card      card   `json:"card"`
}

type card struct {
	Config   cardConfig `json:"config"`
	Header   header     `json:"header"`
	Elements []element  `json:"elements"`
}

type cardConfig struct {
	Wide bool `json:"wide_screen_mode"`
}

type header struct {
	Title    element `json:"title"`
	Template string  `json:"template"`
}

type element struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

// Send sends a message as a card.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.Feishu.Title(m.Content), maxTitle, markup.Runes)
	at := c.mentions()
	now, sign := c.sign()
	body, err := post.Fit(markup.Feishu.Body(m.Content), maxBody, func(text string) any {
		return message{
			Timestamp: now, Sign: sign, Type: "interactive",
			Card: card{
				Config:   cardConfig{Wide: true},
				Header:   header{Title: element{Tag: "plain_text", Content: title}, Template: colour(m)},
				Elements: []element{{Tag: "markdown", Content: text + at}},
			},
		}
	})
	return c.client.Deliver(ctx, string(c.config.Webhook), c.mask, body, err, judge)
}

func colour(m alert.Message) string {
	switch {
	case !m.Firing:
		return "green"
	case m.Level == "CRITICAL":
		return "red"
	case m.Level == "WARNING":
		return "orange"
	default:
		return "blue"
	}
}

func (c *Channel) mentions() string {
	var b strings.Builder
	for _, id := range c.config.AtUserIDs {
		b.WriteString("<at id=" + id + "></at>")
	}
	if c.config.AtAll {
		b.WriteString("<at id=all></at>")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// sign returns the time of the call in seconds, and its signature: the key is time and secret, and
// what is signed is empty.
func (c *Channel) sign() (now, sign string) {
	if c.config.Secret == "" {
		return "", ""
	}
	now = strconv.FormatInt(c.client.Clock.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(now+"\n"+string(c.config.Secret)))
	return now, base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
