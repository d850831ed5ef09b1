package kafka_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
)

// signed makes a root and a certificate of 127.0.0.1. It returns the files with the root, and with the key and the
// certificates of the server.
func signed(t *testing.T) (root, server string) {
	t.Helper()
	issue := func(serial int64, name string, ips []net.IP, parent *x509.Certificate, by *ecdsa.PrivateKey) (
		*x509.Certificate, *ecdsa.PrivateKey,
	) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		c := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IPAddresses: ips,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		}
		if parent == nil {
			parent, by = c, key
		}
		raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
		require.NoError(t, err)
		c, err = x509.ParseCertificate(raw)
		require.NoError(t, err)
		return c, key
	}
	ca, caKey := issue(1, "root", nil, nil, nil)
	leaf, leafKey := issue(2, "broker", []net.IP{net.IPv4(127, 0, 0, 1)}, ca, caKey)
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	require.NoError(t, err)
	var all bytes.Buffer
	require.NoError(t, pem.Encode(&all, &pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for _, c := range []*x509.Certificate{leaf, ca} {
		require.NoError(t, pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	folder := t.TempDir()
	root, server = filepath.Join(folder, "root.pem"), filepath.Join(folder, "server.pem")
	require.NoError(t, os.WriteFile(root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), 0o600))
	require.NoError(t, os.WriteFile(server, all.Bytes(), 0o600))
	return root, server
}

const password = "canary-7391"

// A broker that wants TLS and a sign-in gets both, from all that speaks to it: the relay, the copies, the reader that
// wakes, the check of the settings. Whoever it must not trust gets nothing, and no password is told.
func TestBrokersThatWantTLSAndASignIn(t *testing.T) {
	kafkatest.Config(t) // only where a Kafka is to be had
	root, server := signed(t)
	// The process reads its roots once; nothing in this package has before.
	t.Setenv("SSL_CERT_FILE", root)
	b := newBroker(t, "KAFKA_SECURE="+server, "KAFKA_SECURE_PASSWORD="+password)
	with := func(mechanism string) config.Kafka {
		cfg := kafkatest.At(b.secure)
		cfg.TLS = true
		cfg.SASL = config.SASL{Mechanism: mechanism, Username: "scheduler", Password: password}
		return cfg
	}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			cfg := with(mechanism)
			require.NoError(t, kafka.Try(t.Context(), cfg))
			k, err := kafka.Open(cfg, "node-1", clock.NewSystem(), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, k.Close()) })
			require.NoError(t, k.Check(t.Context()))
			var woken atomic.Int32
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				k.WakeOnAlerts(ctx, func() { woken.Add(1) })
			}()
			require.Eventually(t, func() bool {
				taken, _ := k.Publish(t.Context(), []entity.Event{{
					ID: "a", Topic: entity.TopicAlerts, Key: "a", Type: "t", Payload: "{}", CreateTime: time.Now(),
				}})
				return len(taken) == 1
			}, within, 100*time.Millisecond)
			require.Eventually(t, func() bool { return woken.Load() > 0 }, within, 10*time.Millisecond)
			stop()
			<-done

			for name, spoil := range map[string]func(c *config.Kafka){
				"a wrong password": func(c *config.Kafka) { c.SASL.Password = "canary-wrong" },
				"an unknown user":  func(c *config.Kafka) { c.SASL.Username = "nobody" },
				"no sign-in":       func(c *config.Kafka) { c.SASL = config.SASL{} },
				"no TLS":           func(c *config.Kafka) { c.TLS = false },
				"another name": func(c *config.Kafka) {
					c.Brokers = []string{strings.Replace(b.secure, "127.0.0.1", "localhost", 1)}
				},
			} {
				bad := with(mechanism)
				spoil(&bad)
				err := kafka.Try(t.Context(), bad)
				require.ErrorContains(t, err, bad.Brokers[0], name)
				require.NotContains(t, err.Error(), "canary", name)
			}
		})
	}

	// A whole scheduler, as its settings say it.
	cfg := with("SCRAM-SHA-512")
	s := start(t, cfg)
	s.edit()
	require.Eventually(t, func() bool { return len(s.ledger.of(entity.StatusFailed)) > 10 }, within, 10*time.Millisecond)
	s.settle()
	s.kafka.Brokers = []string{b.addr} // what a reader of the test sees
	s.check(1)
	require.Empty(t, s.Degraded(t.Context()))
}
