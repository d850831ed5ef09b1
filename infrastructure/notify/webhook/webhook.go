// Package webhook posts messages to programs, signed by the rules of Standard Webhooks.
package webhook

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	maxSecrets = 3
	// minSecret and maxSecret bound a key, in bytes. Standard Webhooks asks for 24 to 64; shorter ones
	// of other systems are taken.
	minSecret  = 16
	maxSecret  = 128
	maxHeaders = 20
	maxHeader  = 4096
	// keyPrefix marks keys in base64.
	keyPrefix = "whsec_"
)

// Config is the configuration of a channel.
type Config struct {
	URL string `json:"url" required:"true"`
	// Secret signs the messages; "" signs nothing.
	Secret channelconfig.Secret `json:"secret"`
	// Secrets sign, too: while a receiver changes its key, it takes the old or the new one.
	Secrets []channelconfig.Secret `json:"secrets"`
	// Headers are sent with each message. Their values are secret.
	Headers map[string]channelconfig.Secret `json:"headers"`
}

// Channel is one receiver. Safe for concurrent use.
type Channel struct {
	post.Channel[Config]
	keys [][]byte
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	var keys [][]byte
	c, wrong := post.Open(text, client, Config{}, func(c *Config, p *channelconfig.Problems) {
		p.URL("url", c.URL, client.Guard)
		if c.Secret != "" {
			keys = addKey(keys, p, "secret", string(c.Secret))
		}
		if len(c.Secrets) > maxSecrets {
			p.Add("secrets", validation.CodeTooMany, "has more than %d entries", maxSecrets)
		}
		for _, s := range c.Secrets[:min(len(c.Secrets), maxSecrets)] {
			keys = addKey(keys, p, "secrets", string(s))
		}
		checkHeaders(p, c.Headers)
	})
	c.Mask = c.Mask.With(channelconfig.KeysOf(c.Config.URL)...)
	return &Channel{c, keys}, wrong
}

// addKey reads a key: base64 behind whsec_, else the bytes of the text.
func addKey(keys [][]byte, p *channelconfig.Problems, name, text string) [][]byte {
	key := []byte(text)
	if encoded, ok := strings.CutPrefix(text, keyPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			p.Add(name, validation.CodeInvalid, "must be base64 behind %s", keyPrefix)
			return keys
		}
	}
	if len(key) < minSecret || len(key) > maxSecret {
		p.Add(name, validation.CodeOutOfRange, "must have %d to %d bytes", minSecret, maxSecret)
		return keys
	}
	return append(keys, key)
}

var headerName = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}$")

// reserved are headers that the call itself sets.
func reserved(name string) bool {
	return slices.Contains([]string{
		"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Te", "Trailer",
		"Upgrade", "Expect", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "User-Agent", headerID,
		headerTimestamp, headerSignature,
	}, http.CanonicalHeaderKey(name))
}

func checkHeaders(p *channelconfig.Problems, headers map[string]channelconfig.Secret) {
	if len(headers) > maxHeaders {
		p.Add("headers", validation.CodeTooMany, "has more than %d entries", maxHeaders)
	}
	seen := map[string]bool{}
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !headerName.MatchString(name):
			p.Add("headers", validation.CodeInvalid, "a name of a header has letters, digits and signs such as '-' only")
			continue
		case reserved(name):
			p.Add("headers."+name, validation.CodeConflict, "remove it, the server sets this header")
		case seen[canonical]:
			p.Add("headers."+name, validation.CodeConflict, "the same header is given twice")
		}
		seen[canonical] = true
		p.Length("headers."+name, string(value), maxHeader)
	}
}

// Send posts a message. The status alone says whether the receiver took it.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	body, err := encode(m)
	if err != nil {
		return post.Refused(c.Mask, "message", err.Error())
	}
	header := http.Header{}
	for name, value := range c.Config.Headers {
		header.Set(name, string(value))
	}
	sign(header, c.keys, m.ID, c.Client.Clock.Now(), body)
	answer, result, ok := c.Client.Post(ctx, post.Request{URL: c.Config.URL, Header: header, Body: body, Mask: c.Mask})
	if ok {
		result = answer.Result()
	}
	result.Listed = markup.IDs(m.Alerts[:min(len(m.Alerts), alert.MaxMessageAlerts)])
	return result
}
