package notify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

// mailbox is a mail server that keeps what it gets.
type mailbox struct {
	mu    sync.Mutex
	mails [][]byte
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }
func (b *mailbox) Mail(string, *smtp.MailOptions) error        { return nil }
func (b *mailbox) Rcpt(string, *smtp.RcptOptions) error        { return nil }
func (b *mailbox) Reset()                                      {}
func (b *mailbox) Logout() error                               { return nil }

func (b *mailbox) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = append(b.mails, data)
	return err
}

func (b *mailbox) last() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mails[len(b.mails)-1]
}

// mailSubject is the channel EMAIL, which is not one over HTTP.
func mailSubject(t *testing.T) (notify.Channel, *mailbox) {
	t.Helper()
	box := &mailbox{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := smtp.NewServer(box)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // Close knows no listener that Serve has not taken yet
		<-done
	})
	config := fmt.Sprintf(`{"host":"127.0.0.1","port":%d,"tls":"NONE","from":"ops@example.com","to":["a@example.com"]}`,
		l.Addr().(*net.TCPAddr).Port)
	channel, err := channels(t, 10*time.Second).Open(alert.ChannelEmail, alert.ChannelConfig(config))
	require.NoError(t, err)
	return channel, box
}

// hostileNames are what jobs, groups, rules and users may be called at worst.
func hostileNames() []string {
	return append(notifytest.Hostile(),
		"[x](javascript:alert(1))", "*_~`", "*a* _b_ ~c~", "😀🏴‍☠️", "\u202eevil\u202c", "\u200fx", strings.Repeat("长", 200),
		strings.Repeat("[x](https://evil.example/) ", 8), "</td></table><a href=https://evil.example>x</a>",
		"=?utf-8?q?forged?=", "\r\n.\r\nRSET", "javascript:alert(1)",
	)
}

// called is a message in which everything that people may choose has that name.
func called(name string) alert.Message {
	m := notifytest.Message()
	a := &m.Alerts[0]
	a.JobName, a.Group, a.Owner, a.RuleName, a.NodeID, a.Summary = name, name, name, name, name, name
	a.Labels = map[string]string{"owner": name, name: "x", "job": name, "group": name, "rule": name}
	m.GroupLabels = map[string]string{"group": name, "job": name}
	m.Content = alert.Content{}
	return m
}

// Whatever people call their jobs, groups, rules and themselves: the texts of the product reach each
// receiver without a header, an element, a link or a call that nobody but the product has made.
func TestHostileNamesInTheTextsOfTheProduct(t *testing.T) {
	renderer, err := template.New(clocktest.NewManual(time.Now()), time.UTC, notify.DialectOf)
	require.NoError(t, err)
	run := func(t *testing.T, kind alert.ChannelType, c notify.Channel, judge func(t *testing.T, name string)) {
		t.Helper()
		for _, language := range template.Languages() {
			for _, name := range hostileNames() {
				m := called(name)
				m.Content, err = renderer.Render(t.Context(), kind, language, alert.Content{}, m)
				require.NoError(t, err)
				got := c.Send(t.Context(), m)
				require.Equal(t, alert.ResultSent, got.Result, "%q: %s", name, got.Text)
				judge(t, name)
			}
		}
	}
	t.Run("EMAIL", func(t *testing.T) {
		channel, box := mailSubject(t)
		run(t, alert.ChannelEmail, channel, func(t *testing.T, name string) { judgeMail(t, box.last(), name) })
	})
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
		run(t, s.Type, s.open(t, r.URL), func(t *testing.T, name string) {
			calls := r.Calls()
			judgeCall(t, s, calls[len(calls)-1], name)
		})
	})
}

// plainText fails for what hides or reorders text.
func plainText(t *testing.T, text, name string) {
	t.Helper()
	for _, c := range "\x00\x01\x07\x1b\u202e\u202c\u200f\u2066\u2069\u200b\u2028" {
		require.NotContains(t, text, string(c), "%q", name)
	}
}

func judgeMail(t *testing.T, data []byte, name string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(data))
	require.NoError(t, err, "%q", name)
	for key, values := range m.Header {
		require.Contains(t, []string{
			"Message-Id", "Date", "Mime-Version", "Subject", "From", "To", "Content-Type", "Auto-Submitted", "In-Reply-To",
			"References",
		}, key, "%q", name)
		require.Len(t, values, 1, "%s of %q", key, name)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	require.NoError(t, err)
	require.NotContains(t, subject, "\n")
	require.LessOrEqual(t, len([]rune(subject)), 200)
	plainText(t, subject, name)
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	var types []string
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "%q", name)
		body, err := io.ReadAll(part)
		require.NoError(t, err, "%q", name)
		plainText(t, string(body), name)
		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		require.NoError(t, err)
		if types = append(types, kind); kind == "text/html" {
			judgeHTML(t, string(body), name, []string{"html", "head", "body", "h3", "p", "table", "tbody", "tr", "td", "a"})
			continue
		}
		for line := range strings.Lines(string(body)) {
			require.NotRegexp(t, `^(Bcc:|RSET|owned|## )`, line, "%q forges a line", name)
		}
	}
	require.Equal(t, []string{"text/plain", "text/html"}, types, "%q", name)
}

// ours lets links to the product pass alone.
func ours(t *testing.T, link, name string) {
	t.Helper()
	require.Regexp(t, `^https://scheduler\.example/`, link, "%q makes a link", name)
}

// judgeHTML lets the elements of the product pass alone, and returns the text that people see.
func judgeHTML(t *testing.T, source, name string, allowed []string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(source))
	require.NoError(t, err)
	var text strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			text.WriteString(n.Data)
		case html.ElementNode:
			require.Contains(t, allowed, n.Data, "%q makes an element", name)
			for _, a := range n.Attr {
				require.Contains(t, []string{"style", "href", "cellpadding"}, a.Key, "%q makes an attribute", name)
				switch a.Key {
				case "href":
					ours(t, a.Val, name)
				case "style":
					require.NotContains(t, a.Val, "evil")
				}
			}
		case html.CommentNode:
			t.Fatalf("%q makes a comment", name)
		}
	}
	plainText(t, text.String(), name)
	return text.String()
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^)]*)\)`)
	slackMarks   = regexp.MustCompile(`<([^>|]*)`)
)

func judgeCall(t *testing.T, s subject, call notifytest.Call, name string) {
	t.Helper()
	require.True(t, json.Valid([]byte(call.Body)), "%q", name)
	for _, values := range call.Header {
		require.NotContains(t, strings.Join(values, ""), "evil")
	}
	if s.Program {
		// Programs get names as they are: all that JSON can hold of them.
		want, err := json.Marshal(name)
		require.NoError(t, err)
		var text string
		require.NoError(t, json.Unmarshal(want, &text))
		if len(name) < 256 {
			if s.Type == alert.ChannelAlertmanager {
				text = validation.Text(text, 4<<10) // without control characters
			}
			require.Contains(t, values(t, call.Body), text)
		}
		return
	}
	visible := shown(t, call.Body)
	plainText(t, visible, name)
	for _, mark := range s.Calls {
		if mark != "](http" { // links of the product
			require.NotContains(t, visible, mark, "%q", name)
		}
	}
	switch notify.DialectOf(s.Type) {
	case markup.Telegram:
		judgeHTML(t, visible, name, []string{"html", "head", "body", "b", "a"})
	case markup.Slack:
		for _, m := range slackMarks.FindAllStringSubmatch(visible, -1) {
			ours(t, m[1], name)
		}
		// The product writes the name in bold once for each alert: no other mark may begin or end there.
		require.Equal(t, 2, strings.Count(visible, "*"), "%q", name)
		require.NotContains(t, visible, "~", "%q", name)
		require.NotContains(t, visible, "`", "%q", name)
	default:
		for _, m := range markdownLink.FindAllStringSubmatch(visible, -1) {
			ours(t, m[1], name)
		}
		require.NotRegexp(t, "(?m)^\\s*(#|\\||```|!\\[)", visible, "%q makes a heading, a table or a picture", name)
		require.NotContains(t, visible, "`", "%q", name)
	}
}

// values are all strings of a JSON value, keys too.
func values(t *testing.T, body string) []string {
	t.Helper()
	var all []string
	d := json.NewDecoder(strings.NewReader(body))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		if text, ok := token.(string); ok {
			all = append(all, text)
		}
	}
}
