//go:build linux

package e2e_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// mailServer repeats what it is given to sign in with, and refuses it.
func mailServer(t *testing.T) (port int, certificate []byte) {
	t.Helper()
	pair := httptest.NewTLSServer(nil)
	t.Cleanup(pair.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: pair.TLS.Certificates, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go refuseMail(conn)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate().Raw})
}

func refuseMail(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "220 mail ESMTP\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		answer := "250 well"
		switch strings.ToUpper(verb) {
		case "EHLO":
			answer = "250-mail\r\n250 AUTH PLAIN"
		case "AUTH":
			given := rest[strings.LastIndex(rest, " ")+1:]
			plain, _ := base64.StdEncoding.DecodeString(given)
			answer = fmt.Sprintf("535 5.7.8 you sent %s, which is %q", given, plain)
		}
		_, _ = io.WriteString(conn, answer+"\r\n")
	}
}

// formsOf are a secret as it is, for a URL, in hex, and in base64, wherever it stands in there.
func formsOf(secret string) []string {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret))}
	for before := range 3 {
		for _, base := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			whole := base.EncodeToString([]byte(strings.Repeat("x", before) + secret))
			forms = append(forms, whole[4:len(whole)-4])
		}
	}
	return forms
}

// channelsOf are the configurations of channels of each type, to receivers at an address.
func channelsOf(t *testing.T, at string, mailPort int, secret func() string) map[string]map[string]any {
	t.Helper()
	examples, err := notifytest.Examples()
	require.NoError(t, err)
	out := map[string]map[string]any{}
	for _, e := range examples {
		to := at
		if e.Mail {
			to = fmt.Sprintf("smtp://127.0.0.1:%d", mailPort)
		}
		out[string(e.Type)] = e.Fill(to, secret)
	}
	out["WEBHOOK"]["url"] = at + "/in?token=" + secret()
	out["WEBHOOK"]["secret"] = "whsec_" + base64.StdEncoding.EncodeToString([]byte(secret()))
	return out
}

// What channels hold in secret leaves the server for the channel alone: not to Kafka, nor to any
// answer, record, figure or line of the log, however the channel fails.
func TestSecretsOfChannelsReachNeitherKafkaNorTheLog(t *testing.T) {
	kafka := kafkatest.Config(t)
	var calls [2]atomic.Int64
	var places []string
	for i, status := range []int{http.StatusUnauthorized, http.StatusInternalServerError} {
		echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls[i].Add(1)
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"ok":false,"description":"%s %v %s"}`, r.URL, r.Header, body)
		}))
		t.Cleanup(echo.Close)
		places = append(places, echo.URL)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	places = append(places, gone.URL)
	mail, certificate := mailServer(t)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	require.NoError(t, os.WriteFile(trusted, certificate, 0o600))
	b := startBinaryWith(t, "PS_LOG_LEVEL=debug", "SSL_CERT_FILE="+trusted,
		"PS_KAFKA_BROKERS="+kafka.Brokers[0], "PS_KAFKA_TOPIC_PREFIX="+kafka.TopicPrefix)

	var secrets, ids []string
	secret := func() string {
		secrets = append(secrets, fmt.Sprintf("canary-%02d-5d1f7c0a9b3e77aa01", len(secrets)))
		return secrets[len(secrets)-1]
	}
	for i, at := range places {
		port := mail
		if i == 2 {
			port = 1
		}
		channels := channelsOf(t, at, port, secret)
		for _, kind := range slices.Sorted(maps.Keys(channels)) {
			var made struct{ ID string }
			b.must(201, http.MethodPost, "/api/v1/alert-channels",
				map[string]any{"name": fmt.Sprint(kind, " ", i), "type": kind, "config": channels[kind]}, &made)
			ids = append(ids, made.ID)
		}
	}
	for _, part := range slices.Collect(slices.Chunk(ids, 8)) {
		b.must(201, http.MethodPost, "/api/v1/alert-rules", map[string]any{
			"name": "to " + part[0], "type": "JOB_FAILED", "level": "CRITICAL", "notify": "EACH", "channelIds": part,
		}, nil)
	}
	run := b.trigger(map[string]any{
		"jobType": "CUSTOM", "jobClass": "fail", "jobData": map[string]any{"message": "no luck"},
	}, "1")
	seen := map[string][]byte{}
	for _, id := range ids {
		path := "/api/v1/alert-channels/" + id
		var tried struct{ Result, Code, Message string }
		b.must(200, http.MethodPost, path+"/test", nil, &tried)
		require.NotEqual(t, "SENT", tried.Result, path)
		seen[path+"/test"] = fmt.Append(nil, tried)
		_, seen[path] = b.call(http.MethodGet, path, nil)
	}
	var alerts struct{ Items []struct{ ID string } }
	b.await("a delivery to each channel failed", "/api/v1/alerts?limit=200", &alerts, func() bool {
		failed := map[string]bool{}
		for _, a := range alerts.Items {
			var of struct {
				Deliveries []struct{ ChannelID, Result string }
			}
			b.must(200, http.MethodGet, "/api/v1/alerts/"+a.ID, nil, &of)
			for _, d := range of.Deliveries {
				failed[d.ChannelID] = failed[d.ChannelID] || d.Result == "FAILED" || d.Result == "REFUSED"
			}
		}
		return !slices.ContainsFunc(ids, func(id string) bool { return !failed[id] })
	})
	require.Eventually(t, func() bool {
		all, err := kafkatest.ReadAll(t.Context(), kafka, "alerts")
		return err == nil && len(all) > 0
	}, 20*time.Second, 100*time.Millisecond, "alerts reach Kafka")
	for _, topic := range entity.Topics() {
		all, err := kafkatest.ReadAll(t.Context(), kafka, strings.TrimPrefix(topic, "scheduler."))
		require.NoError(t, err)
		for i, m := range all {
			place := fmt.Sprintf("message %d of %s", i, topic)
			seen[place] = slices.Concat(m.Key, m.Value, fmt.Append(nil, m.Headers))
		}
	}
	for _, a := range alerts.Items {
		_, seen["/api/v1/alerts/"+a.ID] = b.call(http.MethodGet, "/api/v1/alerts/"+a.ID, nil)
	}
	for _, path := range []string{
		"/api/v1/alert-channels?limit=200", "/api/v1/alert-rules", "/api/v1/audit-logs?limit=200",
		"/api/v1/alerts?limit=200", "/readyz", "/api/v1/export",
	} {
		_, seen[path] = b.call(http.MethodGet, path, nil)
	}
	maps.Copy(seen, b.everywhere([]string{run}))
	require.Contains(t, string(seen[b.logFile()]), "DEBUG", "the log was searched at its finest")
	require.Positive(t, calls[0].Load())
	require.Positive(t, calls[1].Load())
	for place, content := range seen {
		for _, s := range secrets {
			for _, form := range formsOf(s) {
				require.False(t, bytes.Contains(content, []byte(form)), "%s holds %s as %s", place, s, form)
			}
		}
	}
}
