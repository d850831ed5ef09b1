package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging"
)

func loggerTo(t *testing.T, format string) (*slog.Logger, *slog.LevelVar, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log, level, err := logging.New(&out, format, "info")
	require.NoError(t, err)
	return log, level, &out
}

type account struct{ name, password string }

func (a account) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", a.name), slog.String("password", a.password))
}

func TestSecretsNeverReachTheLog(t *testing.T) {
	for _, format := range []string{logging.FormatText, logging.FormatJSON} {
		log, _, out := loggerTo(t, format)
		log = log.With("apiKey", "canary").With(slog.Group("redis", "password", "canary", "addr", "visible"))
		log.WithGroup("g").Info("signed in with Bearer canary",
			"password", "canary", "session_token", "canary", "Authorization", "canary", "Set-Cookie", "canary", "clientSecret",
			[]string{"canary"},
			"dsn", "canary", "account", account{"ann", "canary"},
			"error", errors.New("dial u:canary@tcp(db:3306)/s: refused; redis://u:canary@r:6379; http://:ca@nary@h; "+
				"Basic canary"))
		require.NotContains(t, out.String(), "canary", format)
		require.NotContains(t, out.String(), "nary", format)
		require.Contains(t, out.String(), "visible")
		require.Contains(t, out.String(), "tcp(db:3306)")
		require.Contains(t, out.String(), "ann")
	}
}

func TestFencingTokensAreNumbersAndShown(t *testing.T) {
	log, _, out := loggerTo(t, logging.FormatJSON)
	log.Info("claimed", "token", int64(7), "took", time.Second)
	require.Contains(t, out.String(), `"token":7`)
}

func TestNobodyForgesALine(t *testing.T) {
	evil := "a\r\n2026-01-01 INFO forged\x1b]0;owned\x07\u2028b\u202ec\x00d\xff\u0085e"
	for _, format := range []string{logging.FormatText, logging.FormatJSON} {
		log, _, out := loggerTo(t, format)
		log.Info(evil, "name", evil, evil, "key", "list", []string{evil}, "bytes", []byte(evil), "other",
			struct{ S string }{evil}, "err", errors.New(evil))
		log.WithGroup(evil).Info("x", "k", 1)
		text := out.String()
		require.Equal(t, 2, strings.Count(text, "\n"), format)
		for _, bad := range []string{"\r", "\x1b", "\x07", "\x00", "\u2028", "\u202e", "\xff", "\u0085"} {
			require.NotContains(t, text, bad, "%s %q", format, bad)
		}
		require.Contains(t, text, "forged")
	}
}

func TestJSONHasOneObjectALine(t *testing.T) {
	log, level, out := loggerTo(t, "")
	log.Debug("hidden")
	level.Set(slog.LevelDebug)
	log.Debug("shown", "n", 1)
	var m map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &m))
	require.Equal(t, "shown", m["msg"])
}

func TestUnknownFormatsAndLevelsAreRefused(t *testing.T) {
	_, _, err := logging.New(&bytes.Buffer{}, "xml", "info")
	require.ErrorContains(t, err, "xml")
	_, _, err = logging.New(&bytes.Buffer{}, "", "loud")
	require.ErrorContains(t, err, "loud")
}
