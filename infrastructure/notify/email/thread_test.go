package email_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// Mails about the same alert name the same references, whatever their own ids are, so that clients show
// them as one thread.
func TestMailsOfAnAlertAreOneThread(t *testing.T) {
	s := start(t, &server{}, false, true)
	c := open(t, s, s.config("STARTTLS", withPassword), 0)
	send := func(id string, alerts ...string) {
		m := notifytest.Message()
		a := m.Alerts[0]
		m.ID, m.Alerts, m.Total = id, nil, len(alerts)
		for _, alertID := range alerts {
			a.ID = alertID
			m.Alerts = append(m.Alerts, a)
		}
		require.Equal(t, alert.SendResult{Result: alert.ResultSent}, c.Send(t.Context(), m))
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("%064d", i)
	}
	send("n1", "a1")
	send("n2", "a1")
	send("n3", "a1", "a2")
	send("n4")
	send("n5", "x>\r\nBcc: <victim@evil.example", "a2")
	send("n6", many...)

	for i, want := range []string{
		"<alert-a1@example.com>", "<alert-a1@example.com>", "<alert-a1@example.com> <alert-a2@example.com>", "",
		"<alert-a2@example.com>",
	} {
		header, _, _ := parts(t, s.Mails()[i].data)
		require.Equal(t, fmt.Sprintf("<n%d@example.com>", i+1), header.Get("Message-ID"))
		require.Equal(t, want, header.Get("References"))
		first, _, _ := strings.Cut(want, " ")
		require.Equal(t, first, header.Get("In-Reply-To"))
		require.Empty(t, header.Get("Bcc"))
		if want == "" {
			require.NotContains(t, header, "References")
		}
	}
	header, _, _ := parts(t, s.Mails()[5].data)
	require.Len(t, strings.Fields(header.Get("References")), 10)
	for line := range strings.SplitSeq(string(s.Mails()[5].data), "\r\n") {
		require.LessOrEqual(t, len(line), 998, "a line of a mail")
	}
}
