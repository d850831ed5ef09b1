package httpcall_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// client is a certificate that signs itself, with its key, in PEM.
func client(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// asking is a TLS server that tells which client certificate it was shown.
func asking(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func authority(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func TestACallShowsItsOwnCertificate(t *testing.T) {
	s := asking(t, func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.TLS.PeerCertificates {
			_, _ = w.Write([]byte(c.Subject.CommonName))
		}
	})
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	for _, name := range []string{"ann", "bob"} {
		certificate, key := client(t, name)
		outcome := runs(t, x, data{"url": s.URL, "clientCertificate": certificate, "clientKey": key, "certificateAuthority": authority(s)})
		require.Equal(t, entity.Succeeded(name), outcome)
	}
	require.Equal(t, entity.Succeeded(""), runs(t, x, data{"url": s.URL, "certificateAuthority": authority(s)}))
	require.Contains(t, runs(t, x, data{"url": s.URL}).Message, "agree on TLS", "the authority of one call is not trusted by others")
}

func TestACertificateStaysWithItsOrigin(t *testing.T) {
	elsewhere := asking(t, func(http.ResponseWriter, *http.Request) {})
	s := asking(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	certificate, key := client(t, "ann")
	x := httpcall.New(clock.NewSystem(), settings(s, elsewhere))
	defer x.Close()
	require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": s.URL}).Status)
	outcome := runs(t, x, data{"url": s.URL, "clientCertificate": certificate, "clientKey": key})
	require.Contains(t, outcome.Message, "refused a redirect to another origin")
}

func TestCheckRefusesHalfAnIdentity(t *testing.T) {
	certificate, key := client(t, "ann")
	_, other := client(t, "bob")
	cases := []struct {
		name  string
		more  data
		field string
	}{
		{"no key", data{"clientCertificate": certificate}, "jobData.clientKey"},
		{"no certificate", data{"clientKey": key}, "jobData.clientCertificate"},
		{"foreign key", data{"clientCertificate": certificate, "clientKey": other}, "jobData.clientCertificate"},
		{"nonsense", data{"clientCertificate": "x", "clientKey": "y"}, "jobData.clientCertificate"},
		{"authority", data{"certificateAuthority": "x"}, "jobData.certificateAuthority"},
	}
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.more["url"] = "https://example.com"
			run := newRun(t, c.more)
			faults := x.Check(run.Job)
			require.Len(t, faults, 1)
			require.Equal(t, c.field, faults[0].Field)
		})
	}
}
