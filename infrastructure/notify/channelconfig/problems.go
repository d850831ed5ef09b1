package channelconfig

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// maxURL bounds an address, in bytes.
const maxURL = 2048

// codeNotAllowed says that this server does not call an address.
const codeNotAllowed = "not_allowed"

// Problems collects what is wrong with a configuration. The zero value is ready for use.
type Problems struct{ fields []apperror.Field }

// Add adds what is wrong with a field; the message must not repeat a secret.
func (p *Problems) Add(name, code, format string, args ...any) {
	path := Path
	if name != "" {
		path += "." + name
	}
	p.fields = append(p.fields, apperror.Field{Field: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Fields returns what was added.
func (p *Problems) Fields() []apperror.Field { return p.fields }

// URL checks the address that a channel calls. The result is nil where it is wrong.
func (p *Problems) URL(name, text string, guard *outbound.Guard) *url.URL {
	if text == "" {
		p.Add(name, validation.CodeRequired, "must be given")
		return nil
	}
	if len(text) > maxURL {
		p.Add(name, validation.CodeTooLong, "is longer than %d bytes", maxURL)
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https":
		p.Add(name, validation.CodeInvalid, "must be an address such as https://host.example/path")
		return nil
	case !port(u.Port()):
		p.Add(name, validation.CodeInvalid, "use a port from 1 to 65535")
		return nil
	case u.User != nil:
		p.Add(name, validation.CodeInvalid, "remove the user and the password from the address")
		return nil
	case u.Fragment != "":
		p.Add(name, validation.CodeInvalid, "remove the # and what follows it")
		return nil
	}
	if err := guard.Check(u); err != nil {
		p.Add(name, codeNotAllowed, "%s", err.Error())
		return nil
	}
	return u
}

// port reports whether an address may have this port; it may have none.
func port(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// Length checks that a text has at most that many bytes and no control characters.
func (p *Problems) Length(name, text string, most int) {
	switch {
	case len(text) > most:
		p.Add(name, validation.CodeTooLong, "is longer than %d bytes", most)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		p.Add(name, validation.CodeInvalid, "remove line breaks and control characters")
	}
}

// Each checks a list of at most that many texts, each of which matches the form.
func (p *Problems) Each(name string, list []string, most int, form *regexp.Regexp, what string) {
	if len(list) > most {
		p.Add(name, validation.CodeTooMany, "has more than %d entries", most)
		return
	}
	for i, text := range list {
		if !form.MatchString(text) {
			p.Add(name+"["+strconv.Itoa(i)+"]", validation.CodeInvalid, "must be %s", what)
		}
	}
}
