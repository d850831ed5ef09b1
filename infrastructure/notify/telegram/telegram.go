// Package telegram sends messages through a bot of Telegram.
package telegram

import (
	"context"
	"fmt"
	"regexp"
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
	// maxText is Telegram's bound of a text, in units of UTF-16.
	maxText = 4096
	// maxRetryAfter bounds what Telegram may ask for.
	maxRetryAfter = 24 * time.Hour
	defaultAPI    = "https://api.telegram.org"
)

// Config is the configuration of a channel.
type Config struct {
	// Token is that of the bot.
	Token channelconfig.Secret `json:"token"`
	// ChatID is the number of a chat, or the @name of a public channel.
	ChatID string `json:"chatId"`
	// ThreadID is a topic of the chat; 0 is none.
	ThreadID int `json:"threadId"`
	// APIURL is the server of the Bot API; "" is that of Telegram.
	APIURL string `json:"apiUrl"`
}

// Target names the fields that say where secrets are sent.
func Target() []string { return []string{"apiUrl"} }

var (
	token  = regexp.MustCompile(`^[0-9]{1,20}:[0-9A-Za-z_-]{10,100}$`)
	chatID = regexp.MustCompile(`^(-?[0-9]{1,20}|@[0-9A-Za-z_]{4,40})$`)
)

// Channel is one bot in one chat. Safe for concurrent use.
type Channel struct {
	config Config
	mask   channelconfig.Mask
	client *post.Client
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c := &Channel{config: Config{APIURL: defaultAPI}, client: client}
	if wrong := channelconfig.Decode(text, &c.config); wrong != nil {
		return nil, wrong
	}
	p := &channelconfig.Problems{}
	switch {
	case c.config.Token == "":
		p.Add("token", validation.CodeRequired, "must be given")
	case !token.MatchString(string(c.config.Token)):
		p.Add("token", validation.CodeInvalid, "must be the token of a bot: digits, a colon, letters and digits")
	}
	if !chatID.MatchString(c.config.ChatID) {
		p.Add("chatId", validation.CodeInvalid, "must be the number of a chat, or the @name of a public channel")
	}
	if c.config.ThreadID < 0 {
		p.Add("threadId", validation.CodeOutOfRange, "must not be negative")
	}
	if u := p.URL("apiUrl", c.config.APIURL, client.Guard); u != nil && u.RawQuery != "" {
		p.Add("apiUrl", validation.CodeInvalid, "remove the ? and what follows it")
	}
	c.mask = channelconfig.MaskOf(&c.config)
	return c, p.Fields()
}

type message struct {
	ChatID    string  `json:"chat_id"`
	ThreadID  int     `json:"message_thread_id,omitempty"`
	Text      string  `json:"text"`
	ParseMode string  `json:"parse_mode,omitempty"`
	Preview   preview `json:"link_preview_options"`
}

type preview struct {
	Disabled bool `json:"is_disabled"`
}

// Send sends a message: as HTML where Telegram can read it as a whole, or else as plain text.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	out := message{ChatID: c.config.ChatID, ThreadID: c.config.ThreadID, Preview: preview{Disabled: true}}
	html := markup.Telegram.WithoutMentions(m.Content.Markdown)
	if html != "" && readable(html) && html == markup.Cut(html, maxText, markup.UTF16) {
		out.Text, out.ParseMode = html, "HTML"
	} else {
		plain := m.Content.Text
		if plain == "" {
			plain = m.Content.Title
		}
		out.Text = markup.Cut(markup.Telegram.WithoutMentions(plain), maxText, markup.UTF16)
	}
	body, err := post.JSON(out)
	address := strings.TrimSuffix(c.config.APIURL, "/") + "/bot" + string(c.config.Token) + "/sendMessage"
	return c.client.Deliver(ctx, address, c.mask, body, err, judge)
}

func judge(a post.Answer) alert.SendResult {
	var answer struct {
		OK          *bool  `json:"ok"`
		Code        int64  `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter uint32 `json:"retry_after"`
			Migrated   int64  `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	result := a.Result()
	switch {
	case !a.Read(&answer) || answer.OK == nil:
		switch {
		case result.Result != alert.ResultSent:
			return result
		case a.TooLong:
			return a.TooLongResult()
		}
		return a.Failed("answer", "the service did not answer as Telegram does; check apiUrl", 0)
	case *answer.OK:
		return result
	}
	if answer.Code == 0 {
		answer.Code = int64(a.Status)
	}
	code, text := fmt.Sprintf("errcode_%d", answer.Code), a.Describe(answer.Code, answer.Description)
	after := min(max(a.RetryAfter, time.Duration(answer.Parameters.RetryAfter)*time.Second), maxRetryAfter)
	switch {
	case answer.Parameters.Migrated != 0:
		return a.Refused(code, fmt.Sprintf("the chat moved: set chatId to %d", answer.Parameters.Migrated))
	case answer.Code == 429:
		return a.Failed(code, text, after)
	case answer.Code >= 400 && answer.Code < 500:
		return a.Refused(code, text)
	default:
		return a.Failed(code, text, after)
	}
}
