package email

import (
	"fmt"
	"net/mail"
	"regexp"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// The bounds of a mail.
const (
	// maxSubject is in characters.
	maxSubject = 200
	// maxPart bounds each form of the text, in bytes.
	maxPart = 256 << 10
	// maxReferences is how many alerts the References of a mail name.
	maxReferences = 10
)

// compose writes a mail. Its Message-ID and its date are those of the notification, so that every
// attempt sends the same mail. Listed are the alerts that its plain text names.
func (c *Channel) compose(m alert.Message, to []*mail.Address) (out *gomail.Msg, listed []string, err error) {
	out = gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	out.FromMailAddress(c.from)
	out.ToMailAddress(to...)
	out.SetMessageIDWithValue(m.ID + "@" + domain(c.from.Address))
	out.SetDateWithValue(m.Time)
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	if thread := references(m, domain(c.from.Address)); len(thread) > 0 {
		out.SetGenHeaderPreformatted("In-Reply-To", thread[0])
		out.SetGenHeaderPreformatted("References", strings.Join(thread, "\r\n "))
	}
	subject := markup.Cut(markup.Line(m.Content.Title), maxSubject, markup.Runes)
	out.Subject(subject)
	text, listed := markup.Form{
		Text: func(c alert.Content) string { return markup.Clean(c.Text) }, Fits: markup.Within(maxPart, markup.Bytes),
		Spell: markup.Clean,
	}.Fill(m)
	if text == "" {
		text = subject
	}
	out.SetBodyString(gomail.TypeTextPlain, text)
	// Half a document would not show: a form that is too long is left out.
	if html := markup.Clean(m.Content.HTML); html != "" && len(html) <= maxPart {
		out.AddAlternativeString(gomail.TypeTextHTML, html)
	}
	if _, err := out.GetSender(false); err != nil {
		return nil, nil, fmt.Errorf("write the mail: %w", err)
	}
	return out, listed, nil
}

// references name the alerts that a mail tells of, one id for each, as RFC 5322 has the ids of mails.
// All mails about an alert name it, so that clients show them as one thread. No mail has such an id:
// the first one may have gone to others, or to nobody.
func references(m alert.Message, domain string) []string {
	var ids []string
	for _, a := range m.Alerts {
		if len(ids) == maxReferences {
			break
		}
		if plain.MatchString(a.ID) {
			ids = append(ids, "<alert-"+a.ID+"@"+domain+">")
		}
	}
	return ids
}

// plain are ids that can stand in a header as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// domain is what stands behind the @ of an address.
func domain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
