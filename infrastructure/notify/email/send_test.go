package email_test

import (
	"context"
	"mime"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/email"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

const withPassword = `,"username":"ops","password":"` + password + `"`

func open(t *testing.T, s *server, config string, within time.Duration) *email.Channel {
	t.Helper()
	c, wrong := email.Open(alert.ChannelConfig(config), email.Settings{
		Guard: notifytest.Loopback(), Roots: s.roots, Timeout: within,
	})
	require.Empty(t, wrong)
	return c
}

func TestAMailIsSentOnceOverEachKindOfConnection(t *testing.T) {
	for name, c := range map[string]struct {
		tls       string
		implicit  bool
		certified bool
		more      string
	}{
		"implicit TLS, with a password": {"TLS", true, true, withPassword},
		"STARTTLS, with a password":     {"STARTTLS", false, true, withPassword},
		"STARTTLS":                      {"STARTTLS", false, true, ""},
		"plain":                         {"NONE", false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, &server{}, c.implicit, c.certified)
			got := open(t, s, s.config(c.tls, c.more), 0).Send(t.Context(), notifytest.Message())
			require.Equal(t, alert.SendResult{Result: alert.ResultSent}, got)
			require.Len(t, s.Mails(), 1)
			m := s.Mails()[0]
			require.Equal(t, "ops@example.com", m.from)
			require.Equal(t, []string{"zhang@example.com", "b@example.com"}, m.to)
			require.Equal(t, c.more != "", m.auth)

			header, text, html := parts(t, m.data)
			require.Equal(t, "<ntf-7f3a@example.com>", header.Get("Message-ID"))
			date, err := header.Date()
			require.NoError(t, err)
			require.True(t, date.Equal(notifytest.Message().Time), "every attempt sends the same mail")
			require.Equal(t, "auto-generated", header.Get("Auto-Submitted"))
			from, err := header.AddressList("From")
			require.NoError(t, err)
			require.Equal(t, "调度", from[0].Name)
			to, err := header.AddressList("To")
			require.NoError(t, err)
			require.Equal(t, "张三", to[0].Name)
			require.Contains(t, text, "exit code 3")
			require.Contains(t, html, "<p>")
		})
	}
}

// A password is never sent in the clear, also where the server asks for it.
func TestNoEncryptionNoPassword(t *testing.T) {
	s := start(t, &server{}, false, false)
	got := open(t, s, s.config("STARTTLS", withPassword), 0).Send(t.Context(), notifytest.Message())
	require.Equal(t, alert.ResultFailed, got.Result)
	require.Empty(t, s.Mails())
	_, wrong := email.Open(alert.ChannelConfig(s.config("NONE", withPassword)), email.Settings{})
	require.Len(t, wrong, 1)
	require.Equal(t, []string{"config.tls", "conflict"}, []string{wrong[0].Field, wrong[0].Code})
}

func TestACertificateThatNobodySignedIsNotTrusted(t *testing.T) {
	for mode, implicit := range map[string]bool{"TLS": true, "STARTTLS": false} {
		s := start(t, &server{}, implicit, true)
		s.roots = nil
		got := open(t, s, s.config(mode, withPassword), 0).Send(t.Context(), notifytest.Message())
		require.Equal(t, []any{alert.ResultFailed, "certificate"}, []any{got.Result, got.Code}, got.Text)
		require.Empty(t, s.Mails())
	}
}

func smtpError(code int, text string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

func TestWhatAServersAnswerMeans(t *testing.T) {
	for name, c := range map[string]struct {
		server *server
		want   alert.Result
		code   string
	}{
		"sender refused":    {&server{onMail: smtpError(550, "not you")}, alert.ResultRefused, "smtp_550"},
		"sender too fast":   {&server{onMail: smtpError(451, "later")}, alert.ResultFailed, "smtp_451"},
		"content refused":   {&server{onData: smtpError(554, "spam")}, alert.ResultRefused, "smtp_554"},
		"content for later": {&server{onData: smtpError(452, "disk full")}, alert.ResultFailed, "smtp_452"},
		"wrong password":    {&server{onAuth: smtpError(535, "wrong "+password)}, alert.ResultRefused, "smtp_535"},
		"closing":           {&server{onMail: smtpError(421, "closing")}, alert.ResultFailed, "smtp_421"},
		"nobody accepted": {&server{
			onRcpt: func(string) error { return smtpError(550, "unknown") },
		}, alert.ResultRefused, "smtp_550"},
		"one for later": {&server{onRcpt: func(to string) error {
			if strings.HasPrefix(to, "b@") {
				return smtpError(450, "greylisted")
			}
			return nil
		}}, alert.ResultFailed, "smtp_450"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, c.server, true, true)
			got := open(t, s, s.config("TLS", withPassword), 0).Send(t.Context(), notifytest.Message())
			require.Equal(t, []any{c.want, c.code}, []any{got.Result, got.Code}, got.Text)
			require.NotContains(t, got.Text, password)
			require.Empty(t, s.Mails())
		})
	}
}

// One wrong address does not keep the mail from the others, and the result says so.
func TestOneWrongAddressDoesNotStopTheOthers(t *testing.T) {
	s := start(t, &server{onRcpt: func(to string) error {
		if strings.HasPrefix(to, "zhang") {
			return smtpError(550, "no such user")
		}
		return nil
	}}, true, true)
	got := open(t, s, s.config("TLS", ""), 0).Send(t.Context(), notifytest.Message())
	require.Equal(t, alert.ResultSent, got.Result)
	require.Contains(t, got.Text, "zhang@example.com")
	require.Equal(t, []string{"b@example.com"}, s.Mails()[0].to)
}

func TestAMailGoesToThoseThatTheMessageNames(t *testing.T) {
	s := start(t, &server{}, true, true)
	m := notifytest.Message()
	m.To = []string{"On call <c@example.com>", "x\r\nRCPT TO:<evil@example.com>", "nonsense"}
	require.Equal(t, alert.ResultSent, open(t, s, s.config("TLS", ""), 0).Send(t.Context(), m).Result)
	require.Equal(t, []string{"c@example.com"}, s.Mails()[0].to)
	m.To = []string{"nonsense"}
	require.Equal(t, "recipients", open(t, s, s.config("TLS", ""), 0).Send(t.Context(), m).Code)
}

// silent accepts connections, and says what it is told and nothing more.
func silent(t *testing.T, greeting string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(greeting))
			// The client must close: a connection that it forgets would hold up the test.
			_, _ = c.Read(make([]byte, 1<<10))
			for err = nil; err == nil; {
				_, err = c.Read(make([]byte, 1<<10))
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-closed
	})
	return &server{port: l.Addr().(*net.TCPAddr).Port}
}

func TestAServerThatDoesNotAnswerEndsTheAttempt(t *testing.T) {
	for name, greeting := range map[string]string{
		"no greeting": "", "half a greeting": "220 mail", "nothing after the greeting": "220 mail.example\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []string{"NONE", "STARTTLS", "TLS"} {
				s := silent(t, greeting)
				got := open(t, s, s.config(mode, ""), 100*time.Millisecond).Send(t.Context(), notifytest.Message())
				require.Equal(t, alert.ResultFailed, got.Result)
				if greeting == "" || mode != "TLS" {
					require.Equal(t, "timeout", got.Code, got.Text)
				}
			}
		})
	}
}

func TestAnEndlessAnswerEndsTheAttempt(t *testing.T) {
	s := silent(t, strings.Repeat("220-"+strings.Repeat("x", 1000)+"\r\n", 1000))
	got := open(t, s, s.config("NONE", ""), 300*time.Millisecond).Send(t.Context(), notifytest.Message())
	require.Equal(t, alert.ResultFailed, got.Result)
	require.LessOrEqual(t, len(got.Text), alert.MaxResultText)
}

func TestAServerThatIsAwayIsAskedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{port: l.Addr().(*net.TCPAddr).Port}
	require.NoError(t, l.Close())
	got := open(t, s, s.config("TLS", withPassword), 0).Send(t.Context(), notifytest.Message())
	require.Equal(t, []any{alert.ResultFailed, "network"}, []any{got.Result, got.Code})
}

func TestAMailEndsWithItsContext(t *testing.T) {
	s := silent(t, "220 mail.example\r\n")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	// Its own time is far off: nothing but the context ends it.
	got := open(t, s, s.config("NONE", ""), time.Hour).Send(ctx, notifytest.Message())
	require.Equal(t, alert.ResultFailed, got.Result)
}

func TestTheGuardJudgesMailServers(t *testing.T) {
	s := start(t, &server{}, false, false)
	c, wrong := email.Open(alert.ChannelConfig(s.config("NONE", "")), email.Settings{
		Guard: outbound.New(outbound.Policy{}),
	})
	require.Empty(t, wrong)
	got := c.Send(t.Context(), notifytest.Message())
	require.Equal(t, []any{alert.ResultRefused, "not_allowed"}, []any{got.Result, got.Code})
	require.Empty(t, s.Mails())
}

// Names of jobs add no lines to a mail, and no commands to its way.
func TestHostileTextsAddNothingToAMail(t *testing.T) {
	s := start(t, &server{}, true, true)
	c := open(t, s, s.config("TLS", ""), 0)
	texts := append(notifytest.Hostile(), ".\r\nMAIL FROM:<evil@example.com>", strings.Repeat("长", 100_000))
	for _, text := range texts {
		m := notifytest.Message()
		m.Content = alert.Content{Title: text, Text: text + "\n.\nRSET", HTML: text}
		require.Equal(t, alert.ResultSent, c.Send(t.Context(), m).Result, "%q", text)
	}
	require.Len(t, s.Mails(), len(texts))
	for i, m := range s.Mails() {
		header, text, _ := parts(t, m.data)
		require.Empty(t, header.Get("Bcc"), "%q", texts[i])
		require.Len(t, header["Subject"], 1)
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		require.NoError(t, err)
		require.NotContains(t, subject, "\n")
		require.NotContains(t, subject, "\u202e")
		require.LessOrEqual(t, len([]rune(subject)), 200)
		require.Equal(t, []string{"zhang@example.com", "b@example.com"}, m.to)
		require.NotEmpty(t, text)
	}
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	_, wrong := email.Open(`{"host":"a b","port":70000,"tls":"SSL","username":"u","from":"x","to":["a@b","no\r\nBcc: x@y"]}`,
		email.Settings{})
	var fields []string
	for _, f := range wrong {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{
		"config.host", "config.tls", "config.port", "config.username", "config.from", "config.to[1]",
	}, fields)
	_, wrong = email.Open(`{"password":["`+password+`"],"bogus":1}`, email.Settings{})
	require.Len(t, wrong, 2)
	require.NotContains(t, apperror.Invalid(wrong).Error(), password)
}
