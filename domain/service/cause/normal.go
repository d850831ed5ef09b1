package cause

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds what is read of a message, in bytes.
const maxText = 4 << 10

// number stands for all that differs from run to run: numbers, ids, times and addresses.
const number = '#'

// Normal returns the line of a message that makes its cause: without numbers, hexadecimal ids of at
// least 8 letters, UUIDs, times, addresses, query strings and directories, of at most 300 characters.
func Normal(message string) string {
	if len(message) > maxText {
		message = message[:maxText]
	}
	n := normal{in: strings.ToValidUTF8(Line(message), "\uFFFD")}
	n.run()
	out := strings.TrimSpace(string(n.out))
	if utf8.RuneCountInString(out) > maxLine {
		return string([]rune(out)[:maxLine])
	}
	return out
}

// normal reads a line from the left to the right, once.
type normal struct {
	in  string
	at  int
	out []rune
	// web: the text is inside of an address of the web, whose path stays.
	web bool
}

func (n *normal) run() {
	for n.at < len(n.in) {
		r, size := utf8.DecodeRuneInString(n.in[n.at:])
		switch {
		case n.web && ends(r):
			n.web = false
			n.plain(r, size)
		case strings.HasPrefix(n.in[n.at:], "://"):
			n.web = true
			n.out = append(n.out, ':', '/', '/')
			n.at += 3
		case r == '?' && n.query():
		case !n.web && n.directory():
		case n.bracketed():
		case word(r):
			n.token()
		case r == ':' && six(n.in[n.at:]) > 0:
			n.at += six(n.in[n.at:])
			n.number()
		default:
			n.plain(r, size)
		}
	}
}

// plain keeps a character; white space becomes one space, and control characters go.
func (n *normal) plain(r rune, size int) {
	n.at += size
	switch {
	case unicode.IsSpace(r):
		if len(n.out) > 0 && n.out[len(n.out)-1] != ' ' {
			n.out = append(n.out, ' ')
		}
	case !unicode.IsControl(r):
		n.out = append(n.out, r)
	}
}

// query drops what follows a question mark at once, as in an address.
func (n *normal) query() bool {
	end := n.at + 1
	equals := false
	for end < len(n.in) {
		r, size := utf8.DecodeRuneInString(n.in[end:])
		if ends(r) {
			break
		}
		equals = equals || r == '='
		end += size
	}
	if end == n.at+1 || !n.web && !equals {
		return false
	}
	n.out, n.at = append(n.out, '?'), end
	return true
}

// directory keeps of a path its last part alone; of one that is a number, the part before it, too.
func (n *normal) directory() bool {
	rest := n.in[n.at:]
	if n.at > 0 {
		if before, _ := utf8.DecodeLastRuneInString(n.in[:n.at]); word(before) || strings.ContainsRune("./\\~-@", before) {
			return false
		}
	}
	start := 0
	switch {
	case strings.HasPrefix(rest, "/"), strings.HasPrefix(rest, "./"), strings.HasPrefix(rest, "../"),
		strings.HasPrefix(rest, "~/"), strings.HasPrefix(rest, `\\`):
	case len(rest) > 2 && letter(rest[0]) && rest[1] == ':' &&
		(rest[2] == '\\' || rest[2] == '/' && !strings.HasPrefix(rest[2:], "//")):
		start = 2
	default:
		return false
	}
	end := start
	for end < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[end:])
		if ends(r) || r == ':' || r == '?' {
			break
		}
		end += size
	}
	parts := strings.FieldsFunc(rest[:end], func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 || len(parts) == 1 && start == 0 && rest[0] == '/' && end < 3 {
		return false // a lone slash
	}
	n.at += end
	last := len(parts) - 1
	sub := normal{in: parts[last]}
	sub.run()
	if last > 0 && string(sub.out) == string(number) {
		above := normal{in: parts[last-1]}
		above.run()
		n.out = append(append(n.out, above.out...), '/')
	}
	n.out = append(n.out, sub.out...)
	return true
}

// bracketed replaces an address of IPv6 in brackets.
func (n *normal) bracketed() bool {
	if n.in[n.at] != '[' {
		return false
	}
	end := strings.IndexByte(n.in[n.at:], ']')
	if end < 0 {
		return false
	}
	inside, _, _ := strings.Cut(n.in[n.at+1:n.at+end], "%")
	if strings.Count(inside, ":") < 2 || strings.Trim(inside, "0123456789abcdefABCDEF:.") != "" {
		return false
	}
	n.at += end + 1
	n.number()
	return true
}

// token reads letters and digits up to the next sign.
func (n *normal) token() {
	rest := n.in[n.at:]
	if uuid(rest) {
		n.at += 36
		n.number()
		return
	}
	if length := six(rest); length > 0 {
		n.at += length
		n.number()
		return
	}
	end := 0
	for end < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[end:])
		if !word(r) {
			break
		}
		end += size
	}
	n.at += end
	token := rest[:end]
	switch {
	case digits(token), len(token) >= 8 && allHex(token), strings.HasPrefix(token, "0x"), random(token), quantity(token),
		n.calendar(token):
		n.number()
	default:
		n.mixed(token)
	}
}

// mixed keeps the letters of a token, and replaces its digits.
func (n *normal) mixed(token string) {
	for i, r := range token {
		if !digit(r) {
			n.out = append(n.out, r)
		} else if i == 0 || n.out[len(n.out)-1] != number {
			n.out = append(n.out, number)
		}
	}
}

// number writes the sign of a number; those that only a sign parts are one, as in a time.
func (n *normal) number() {
	for i := len(n.out) - 1; i >= 0 && i >= len(n.out)-3; i-- {
		switch {
		case n.out[i] == number:
			n.out = n.out[:i+1]
			return
		case !strings.ContainsRune("-:.,/+ ", n.out[i]):
			i = 0
		}
	}
	n.out = append(n.out, number)
}

// calendar reports whether a token is the name of a month or a day beside a number.
func (n *normal) calendar(token string) bool {
	if len(token) != 3 ||
		!strings.Contains(" Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun ",
			" "+token+" ") {
		return false
	}
	if i := len(n.out) - 1; i > 0 && strings.ContainsRune(" -/", n.out[i]) && n.out[i-1] == number {
		return true
	}
	rest := strings.TrimLeft(n.in[n.at:], ", -/")
	if len(rest) > 4 && rest[3] == ' ' && strings.Contains(" Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ",
		" "+rest[:3]+" ") {
		rest = strings.TrimLeft(rest[4:], " ")
	}
	return rest != "" && digit(rune(rest[0])) && rest != n.in[n.at:]
}
