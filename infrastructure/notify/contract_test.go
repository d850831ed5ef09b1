package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// secretValue stands in every secret of every configuration below.
const secretValue = "s3cr3t-AAAAAAAAAAAAAAAAAAAAAAAA"

// subject is one type of channel over HTTP.
type subject struct{ notifytest.Example }

func channels(t *testing.T, timeout time.Duration) *notify.Channels {
	t.Helper()
	c := notify.New(clocktest.NewManual(time.Date(2026, 11, 22, 6, 31, 0, 0, time.UTC)),
		notify.Settings{Guard: notifytest.Loopback(), Timeout: timeout})
	t.Cleanup(c.Close)
	return c
}

// config is the whole configuration for a receiver at an address.
func (s subject) config(address string) alert.ChannelConfig { return s.Text(address, secretValue) }

func (s subject) open(t *testing.T, url string) notify.Channel {
	t.Helper()
	channel, err := channels(t, 10*time.Second).Open(s.Type, s.config(url))
	require.NoError(t, err)
	return channel
}

// each runs a test for every type.
func each(t *testing.T, test func(t *testing.T, s subject)) {
	t.Helper()
	for _, e := range notifytest.HTTPExamples(t) {
		t.Run(string(e.Type), func(t *testing.T) { test(t, subject{e}) })
	}
}

func TestAMessageIsSentOnce(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
		got := s.open(t, r.URL).Send(t.Context(), notifytest.Message())
		require.Equal(t, alert.ResultSent, got.Result)
		require.Empty(t, got.Text)
		require.Len(t, r.Calls(), 1)
		call := r.Calls()[0]
		require.Equal(t, http.MethodPost, call.Method)
		require.True(t, json.Valid([]byte(call.Body)), call.Body)
		require.Contains(t, call.Header.Get("Content-Type"), "application/json")
	})
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for _, c := range []struct {
		status int
		header string
		want   alert.Result
		after  time.Duration
	}{
		{400, "", alert.ResultRefused, 0},
		{401, "", alert.ResultRefused, 0},
		{403, "", alert.ResultRefused, 0},
		{404, "", alert.ResultRefused, 0},
		{410, "", alert.ResultRefused, 0},
		{408, "", alert.ResultFailed, 0},
		{425, "", alert.ResultFailed, 0},
		{429, "17", alert.ResultFailed, 17 * time.Second},
		{429, "", alert.ResultFailed, 0},
		{500, "", alert.ResultFailed, 0},
		{502, "", alert.ResultFailed, 0},
		{503, "30", alert.ResultFailed, 30 * time.Second},
		{302, "", alert.ResultRefused, 0},
		{307, "", alert.ResultRefused, 0},
	} {
		t.Run(fmt.Sprint(c.status, c.header), func(t *testing.T) {
			each(t, func(t *testing.T, s subject) {
				elsewhere := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
				r := notifytest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Location", elsewhere.URL)
					if c.header != "" {
						w.Header().Set("Retry-After", c.header)
					}
					w.WriteHeader(c.status)
				})
				got := s.open(t, r.URL).Send(t.Context(), notifytest.Message())
				require.Equal(t, c.want, got.Result, got.Text)
				require.Equal(t, fmt.Sprintf("http_%d", c.status), got.Code)
				require.Equal(t, c.after, got.RetryAfter)
				require.NotEmpty(t, got.Text)
				require.Len(t, r.Calls(), 1)
				require.Empty(t, elsewhere.Calls(), "a redirect was followed")
			})
		})
	}
}

func TestAReceiverThatDoesNotAnswerEndsTheAttempt(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		channel, err := channels(t, 100*time.Millisecond).Open(s.Type, s.config(r.URL))
		require.NoError(t, err)
		got := channel.Send(t.Context(), notifytest.Message())
		require.Equal(t, []any{alert.ResultFailed, "timeout"}, []any{got.Result, got.Code})
	})
}

func TestAReceiverThatStopsInTheMiddleOfItsAnswerEndsTheAttempt(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		channel, err := channels(t, 100*time.Millisecond).Open(s.Type, s.config(r.URL))
		require.NoError(t, err)
		got := channel.Send(t.Context(), notifytest.Message())
		require.Equal(t, []any{alert.ResultFailed, "timeout"}, []any{got.Result, got.Code})
	})
}

func TestAReceiverThatIsAwayIsAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := "http://" + l.Addr().String()
		require.NoError(t, l.Close())
		got := s.open(t, address).Send(t.Context(), notifytest.Message())
		require.Equal(t, []any{alert.ResultFailed, "network"}, []any{got.Result, got.Code})
		require.NotContains(t, got.Text, secretValue)
	})
}

func TestAnAnswerIsReadWithinBounds(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken+strings.Repeat(" ", 1<<20)))
		got := s.open(t, r.URL).Send(t.Context(), notifytest.Message())
		if !s.Reads {
			require.Equal(t, alert.ResultSent, got.Result, got.Text)
			return
		}
		require.Equal(t, []any{alert.ResultFailed, "answer_too_long"}, []any{got.Result, got.Code})
	})
}

func TestAServiceThatAnswersSomethingElseTookNothing(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		if !s.Reads {
			return
		}
		for _, body := range []string{"", "{}", "null", "<html>sign in</html>", `{"errcode":"x","code":"x","ok":"x"}`, "[]"} {
			r := notifytest.NewReceiver(t, notifytest.Answer(200, body))
			got := s.open(t, r.URL).Send(t.Context(), notifytest.Message())
			require.Equal(t, []any{alert.ResultFailed, "answer"}, []any{got.Result, got.Code}, body)
		}
	})
}

func TestAResultHoldsNoSecret(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		// A receiver that repeats all that it got.
		echo := func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			body, _ := io.ReadAll(r.Body)
			text := r.URL.String() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("X-Key") + string(body)
			_, _ = fmt.Fprintf(w, `{"errcode":40000,"code":40000,"ok":false,"errmsg":%q,"msg":%[1]q,"description":%[1]q}`, text)
		}
		r := notifytest.NewReceiver(t, echo)
		config := s.config(r.URL)
		channel, err := channels(t, 0).Open(s.Type, config)
		require.NoError(t, err)
		got := channel.Send(t.Context(), notifytest.Message())
		require.Equal(t, alert.ResultRefused, got.Result)
		require.NotContains(t, got.Text, secretValue)
		require.LessOrEqual(t, len(got.Text), alert.MaxResultText)

		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, nil))
		logger.Info("x", "config", config, "channel", holder{config}, "result", got)
		entity := holder{config}
		text, err := json.Marshal(entity)
		require.NoError(t, err)
		for _, shown := range []string{
			log.String(), string(text), fmt.Sprintf("%v %+v %#v %s %q %x", entity, entity, entity, config, config, config),
		} {
			require.NotContains(t, shown, secretValue)
			require.NotContains(t, shown, fmt.Sprintf("%x", secretValue))
		}
	})
}

// holder is something that holds a configuration.
type holder struct{ Config alert.ChannelConfig }

func TestAWrongConfigurationIsRefusedWithoutItsSecrets(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		c := channels(t, 0)
		for _, config := range []string{
			"", "null", "[]", `"` + secretValue + `"`, `{"` + secretValue + `":`, `{"x":1,"y":2,"webhook":["` + secretValue + `"]}`,
			strings.Repeat(" ", 40<<10) + "{}", "{}", `{"webhook":"ftp://` + secretValue + `","url":"` + secretValue + `","token":7}`,
			`{"webhook":"https://user:` + secretValue + `@h/","url":"https://user:` + secretValue + `@h/"}`,
		} {
			_, err := c.Open(s.Type, alert.ChannelConfig(config))
			require.True(t, apperror.Is(err, apperror.KindInvalid), "%s: %v", config, err)
			require.NotContains(t, err.Error(), secretValue)
		}
		_, err := c.Open(s.Type, alert.ChannelConfig(`{"bogus":1,"other":2,"webhook":5,"url":5}`))
		for _, part := range []string{"config.bogus", "config.other"} {
			require.ErrorContains(t, err, part, "all mistakes at once")
		}
	})
}

// An address that this server does not call is refused when it is saved, and when it is dialled.
func TestAddressesPassTheGuard(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
		strict := notify.New(clocktest.NewManual(time.Now()), notify.Settings{Guard: outbound.New(outbound.Policy{})})
		defer strict.Close()
		_, err := strict.Open(s.Type, s.config(r.URL))
		require.ErrorContains(t, err, "not allowed")

		// A name that leads there is found out later.
		config := strings.ReplaceAll(string(s.config(r.URL)), "127.0.0.1", "ip6-localhost.test.localhost.")
		_, err = strict.Open(s.Type, alert.ChannelConfig(config))
		require.ErrorContains(t, err, "not allowed")
		require.Empty(t, r.Calls())
	})
}

func TestAnAttemptEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		ctx, cancel := context.WithCancel(t.Context())
		r := notifytest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		require.Equal(t, alert.ResultFailed, s.open(t, r.URL).Send(ctx, notifytest.Message()).Result)
	})
}
