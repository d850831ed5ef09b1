// Package dingtalk sends messages through custom robots of DingTalk.
package dingtalk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxBody is DingTalk's bound of a message, in bytes.
	maxBody     = 20_000
	maxTitle    = 200
	maxMentions = 50
	// blockedFor is how long DingTalk blocks a robot that sent more than 20 messages a minute.
	blockedFor = 10 * time.Minute
)

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its access token.
	Webhook channelconfig.Secret `json:"webhook"`
	// Secret signs the calls; "" for robots that check words or addresses instead.
	Secret    channelconfig.Secret `json:"secret"`
	AtMobiles []string             `json:"atMobiles"`
	AtUserIDs []string             `json:"atUserIds"`
	AtAll     bool                 `json:"atAll"`
}

// Target names the fields that say where secrets are sent; the address itself is secret.
func Target() []string { return nil }

var (
	mobile = regexp.MustCompile(`^\+?[0-9-]{5,20}$`)
	userID = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)
)

// Channel is one robot. Safe for concurrent use.
type Channel struct {
	config Config
	url    *url.URL
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
	c.url = p.URL("webhook", string(c.config.Webhook), client.Guard)
	p.Length("secret", string(c.config.Secret), 256)
	p.Each("atMobiles", c.config.AtMobiles, maxMentions, mobile, "a phone number")
	p.Each("atUserIds", c.config.AtUserIDs, maxMentions, userID, "an id of a user")
	c.mask = channelconfig.MaskOf(&c.config)
	return c, p.Fields()
}

type message struct {
	Type     string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
	At       mentions `json:"at"`
}

type markdown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type mentions struct {
	Mobiles []string `json:"atMobiles,omitempty"`
	UserIDs []string `json:"atUserIds,omitempty"`
	All     bool     `json:"isAtAll"`
}

// Send sends a message.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.FullWidth.Escape(m.Content.Title), maxTitle, markup.Bytes)
	at := c.mentions()
	body, err := post.Fit(markup.FullWidth.Body(m.Content), maxBody, func(text string) any {
		return message{
			Type: "markdown", Markdown: markdown{Title: title, Text: text + at},
			At: mentions{Mobiles: c.config.AtMobiles, UserIDs: c.config.AtUserIDs, All: c.config.AtAll},
		}
	})
	return c.client.Deliver(ctx, c.address(), c.mask, body, err, post.ByCode("DingTalk", refusal))
}

// mentions are the people that DingTalk calls: it wants them in the text, too.
func (c *Channel) mentions() string {
	var b strings.Builder
	for _, list := range [][]string{c.config.AtMobiles, c.config.AtUserIDs} {
		for _, who := range list {
			b.WriteString(" @" + who)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n" + strings.TrimSpace(b.String())
}

// address is that of the robot, signed with the time of the call.
func (c *Channel) address() string {
	if c.config.Secret == "" {
		return c.url.String()
	}
	now := strconv.FormatInt(c.client.Clock.Now().UnixMilli(), 10)
	sign := hmac.New(sha256.New, []byte(c.config.Secret))
	_, _ = sign.Write([]byte(now + "\n" + string(c.config.Secret)))
	signed := *c.url
	query := signed.Query()
	query.Set("timestamp", now)
	query.Set("sign", base64.StdEncoding.EncodeToString(sign.Sum(nil)))
	signed.RawQuery = query.Encode()
	return signed.String()
}

// refusal judges an answer with a number that is not 0.
func refusal(a post.Answer, number int64, code, text string) alert.SendResult {
	switch number {
	case 130101: // more than 20 messages in a minute
		return a.Failed(code, text, max(a.RetryAfter, blockedFor))
	case 410100: // too fast
		return a.Failed(code, text, max(a.RetryAfter, time.Minute))
	case 90030: // the quota of the robot is used up
		return a.Failed(code, text, max(a.RetryAfter, time.Hour))
	case 310000, // signature, words or addresses do not match
		300001, 300005, 400101, // unknown token
		400013, 400102, 400106, // the group or the robot is gone
		40035, 43004, 400105, // form of the message
		430101, 430102, 430103, 430104: // content that DingTalk forbids
		return a.Refused(code, text)
	default:
		return a.Failed(code, text, a.RetryAfter)
	}
}
