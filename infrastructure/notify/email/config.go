// Package email sends messages by SMTP.
package email

import (
	"net/mail"
	"regexp"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
)

// The ways to encrypt a connection.
const (
	tlsNone     = "NONE"
	tlsStart    = "STARTTLS"
	tlsImplicit = "TLS"
)

// The ports that these ways have where none is given.
const (
	portNone     = 25
	portStart    = 587
	portImplicit = 465
)

const (
	maxTo         = 50
	maxAddress    = 320
	maxCredential = 1 << 10
)

// Config is the configuration of a channel.
type Config struct {
	Host string `json:"host" required:"true"`
	// Port is 0 for the usual one: 465 with TLS, 587 with STARTTLS, 25 without.
	Port int `json:"port"`
	// TLS is TLS (from the first byte), STARTTLS (never without) or NONE.
	TLS      string               `json:"tls" enums:"STARTTLS,TLS,NONE"`
	Username string               `json:"username"`
	Password channelconfig.Secret `json:"password"`
	// From and To are addresses, also with names: Ops <ops@example.com>.
	From string   `json:"from" required:"true"`
	To   []string `json:"to"`
}

// host is a name or an address.
var host = regexp.MustCompile(`^([0-9A-Za-z]([0-9A-Za-z_-]{0,62}\.?)*|[0-9A-Fa-f:.]{2,45})$`)

// read decodes and checks a configuration, and puts in what is usual.
func read(text alert.ChannelConfig) (Config, *mail.Address, []*mail.Address, []apperror.Field) {
	c := Config{TLS: tlsStart}
	if wrong := channelconfig.Decode(text, &c); wrong != nil {
		return c, nil, nil, wrong
	}
	p := &channelconfig.Problems{}
	if len(c.Host) > 253 || !host.MatchString(c.Host) {
		p.Add("host", validation.CodeInvalid, "must be the name or the address of a mail server")
	}
	usual := map[string]int{tlsNone: portNone, tlsStart: portStart, tlsImplicit: portImplicit}[c.TLS]
	if usual == 0 {
		p.Add("tls", validation.CodeUnknown, "must be %s, %s or %s", tlsImplicit, tlsStart, tlsNone)
	}
	if c.Port == 0 {
		c.Port = usual
	}
	if c.Port < 0 || c.Port > 65535 {
		p.Add("port", validation.CodeOutOfRange, "must be from 1 to 65535, or 0 for the usual one")
	}
	p.Length("username", c.Username, maxCredential)
	p.Length("password", string(c.Password), maxCredential)
	switch {
	case (c.Username == "") != (c.Password == ""):
		p.Add("username", validation.CodeRequired, "a user and a password belong together")
	case c.Password != "" && c.TLS == tlsNone:
		p.Add("tls", validation.CodeConflict, "must be %s or %s, so that nobody reads the password", tlsImplicit, tlsStart)
	}
	from, err := parse(c.From)
	if err != nil {
		p.Add("from", validation.CodeInvalid, "must be an address, such as Ops <ops@example.com>")
	}
	if len(c.To) == 0 {
		p.Add("to", validation.CodeRequired, "must have at least one address")
	}
	if len(c.To) > maxTo {
		p.Add("to", validation.CodeTooMany, "has more than %d entries", maxTo)
	}
	var to []*mail.Address
	for i, text := range c.To[:min(len(c.To), maxTo)] {
		address, err := parse(text)
		if err != nil {
			p.Add("to["+strconv.Itoa(i)+"]", validation.CodeInvalid, "must be an address, such as Ops <ops@example.com>")
			continue
		}
		to = append(to, address)
	}
	return c, from, to, p.Fields()
}

// parse reads an address. It takes none with control characters, so that nobody adds lines to a
// mail or commands to its way.
func parse(text string) (*mail.Address, error) {
	if len(text) > maxAddress {
		return nil, mail.ErrHeaderNotPresent
	}
	address, err := mail.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(address.Address+address.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
		strings.ContainsAny(address.Address, "<> ") {
		return nil, mail.ErrHeaderNotPresent
	}
	return address, nil
}
