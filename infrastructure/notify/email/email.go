package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// DefaultTimeout bounds the sending of a mail as a whole. Servers that look into mails take longer
// than others.
const DefaultTimeout = 20 * time.Second

// Settings are what channels of this type need.
type Settings struct {
	// Guard checks each address before it is dialled.
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for the system's roots.
	Roots *x509.CertPool
	// Timeout bounds a mail; 0 is DefaultTimeout.
	Timeout time.Duration
}

// Channel sends mails through one server. Safe for concurrent use: each mail has a connection of its
// own.
type Channel struct {
	config   Config
	from     *mail.Address
	to       []*mail.Address
	mask     channelconfig.Mask
	settings Settings
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, s Settings) (*Channel, []apperror.Field) {
	if s.Guard == nil {
		s.Guard = outbound.New(outbound.Policy{})
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	config, from, to, wrong := read(text)
	if wrong != nil {
		return nil, wrong
	}
	return &Channel{config: config, from: from, to: to, mask: channelconfig.MaskOf(&config), settings: s}, nil
}

// Send sends a mail. Recipients that the server never takes do not keep it from the others: then
// the result is SENT, and its text names them.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	to := c.to
	if len(m.To) > 0 {
		to = nil
		for _, text := range m.To[:min(len(m.To), maxTo)] {
			if address, err := parse(text); err == nil {
				to = append(to, address)
			}
		}
	}
	if len(to) == 0 {
		return post.Refused(c.mask, "recipients", "none of the recipients has a valid address")
	}
	ctx, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	mail, listed, err := c.compose(m, to)
	if err != nil {
		return post.Refused(c.mask, "message", err.Error())
	}
	client, err := c.dial(ctx)
	if err != nil {
		return c.failed(ctx, err)
	}
	refused, err := c.deliver(client, mail, to)
	if err != nil {
		return c.failed(ctx, err)
	}
	_ = client.Quit() // the mail is taken, whatever the server says to this
	result := post.Sent()
	result.Listed = listed
	if len(refused) > 0 {
		result.Text = post.Refused(c.mask, "", "some recipients were refused: "+strings.Join(refused, "; ")).Text
	}
	return result
}

// dial connects, encrypts and signs in. The connection closes when ctx ends, at the latest: the
// library heeds no context after the dialling, and leaves connections open that it gives up.
func (c *Channel) dial(ctx context.Context) (*smtp.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.config.Host, RootCAs: c.settings.Roots}
	dialer := &net.Dialer{Control: c.settings.Guard.ControlMail}
	options := []gomail.Option{
		gomail.WithPort(c.config.Port), gomail.WithTimeout(c.settings.Timeout), gomail.WithTLSConfig(config),
		gomail.WithTLSPolicy(gomail.NoTLS), gomail.WithoutNoop(),
		gomail.WithDialContextFunc(func(_ context.Context, network, address string) (net.Conn, error) {
			connection, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { _ = connection.Close() })
			if c.config.TLS != tlsImplicit {
				return connection, nil
			}
			encrypted := tls.Client(connection, config)
			return encrypted, encrypted.HandshakeContext(ctx)
		}),
	}
	if c.config.TLS == tlsStart {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if c.config.Password != "" {
		options = append(options, gomail.WithUsername(c.config.Username), gomail.WithPassword(string(c.config.Password)),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	client, err := gomail.NewClient(c.config.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("set up the client: %w", err)
	}
	return client.DialToSMTPClientWithContext(ctx)
}

// deliver hands the mail over. It returns the recipients that the server never takes, while it takes
// others. One that it may take later makes all wait: nobody gets the mail twice then.
func (c *Channel) deliver(client *smtp.Client, mail *gomail.Msg, to []*mail.Address) (refused []string, err error) {
	if err := client.Mail(c.from.Address); err != nil {
		return nil, err
	}
	for _, address := range to {
		err = client.Rcpt(address.Address)
		if err != nil && code(err) < 500 {
			return nil, err
		}
		if err != nil {
			refused = append(refused, address.Address+" ("+err.Error()+")")
		}
	}
	if len(refused) == len(to) {
		return nil, err
	}
	writer, err := client.Data()
	if err != nil {
		return nil, err
	}
	if _, err := mail.WriteTo(writer); err != nil {
		return nil, err
	}
	return refused, writer.Close()
}

// code is what a server answered; 0 where it did not.
func code(err error) int {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return answer.Code
	}
	return 0
}

// failed judges an error: 5xx is never taken.
func (c *Channel) failed(ctx context.Context, err error) alert.SendResult {
	n := code(err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return post.Failed(c.mask, "timeout", fmt.Sprintf("%s did not take the mail within %s", c.config.Host,
			c.settings.Timeout), 0)
	case n == 421: // the service closes
		return post.Failed(c.mask, "smtp_421", err.Error(), 0)
	case n >= 500:
		return post.Refused(c.mask, "smtp_"+strconv.Itoa(n), err.Error())
	case n >= 400:
		return post.Failed(c.mask, "smtp_"+strconv.Itoa(n), err.Error(), 0)
	default:
		return post.Trouble(c.mask, c.config.Host, err)
	}
}
