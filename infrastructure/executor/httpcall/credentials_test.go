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

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
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

// runWithKey makes a call whose key is the secret named KEY.
func runWithKey(t *testing.T, x *httpcall.Executor, key string, d data) entity.Outcome {
	t.Helper()
	d["clientKey"] = "${secret.KEY}"
	run := newRun(t, d)
	run.Secrets = map[string]string{"KEY": key}
	return x.Run(t.Context(), run, &executortest.Recorder{})
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
		outcome := runWithKey(t, x, key, data{
			"url": s.URL, "clientCertificate": certificate,
			"certificateAuthority": authority(s),
		})
		require.Equal(t, entity.Succeeded(name), outcome)
	}
	require.Equal(t, entity.Succeeded(""), runs(t, x, data{"url": s.URL, "certificateAuthority": authority(s)}))
	require.Contains(t, runs(t, x, data{"url": s.URL}).Message, "agree on TLS",
		"the authority of one call is not trusted by others")
}

func TestACertificateStaysWithItsOrigin(t *testing.T) {
	elsewhere := asking(t, func(http.ResponseWriter, *http.Request) {})
	s := asking(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	certificate, key := client(t, "ann")
	x := httpcall.New(clock.NewSystem(), settings(s, elsewhere))
	defer x.Close()
	require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": s.URL}).Status)
	outcome := runWithKey(t, x, key, data{"url": s.URL, "clientCertificate": certificate})
	require.Contains(t, outcome.Message, "refused a redirect to another origin")
}

func TestHalfAnIdentityIsRefused(t *testing.T) {
	certificate, key := client(t, "ann")
	_, other := client(t, "bob")
	cases := []struct {
		name, key string
		more      data
		field     string
	}{
		{"no certificate", key, data{}, "jobData.clientCertificate"},
		{"foreign key", other, data{"clientCertificate": certificate}, "jobData.clientCertificate"},
		{"nonsense", "y", data{"clientCertificate": "x"}, "jobData.clientCertificate"},
		{
			"authority", key,
			data{"clientCertificate": certificate, "certificateAuthority": "x"},
			"jobData.certificateAuthority",
		},
	}
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.more["url"] = "https://127.0.0.1"
			outcome := runWithKey(t, x, c.key, c.more)
			require.Equal(t, entity.ReasonInvalid, outcome.Reason)
			require.Contains(t, outcome.Message, c.field)
			require.NotContains(t, outcome.Message, "PRIVATE")
		})
	}
}

func TestAKeyDoesNotStandInADefinition(t *testing.T) {
	certificate, key := client(t, "ann")
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	check := func(d data) []apperror.Field {
		d["url"] = "https://example.com"
		return x.Check(newRun(t, d).Job)
	}
	require.Empty(t, check(data{"clientCertificate": certificate, "clientKey": "${secret.KEY}"}))
	require.Empty(t, check(data{
		"clientCertificate": "${secret.CERT}", "clientKey": "${secret.KEY}",
		"certificateAuthority": "${secret.CA}",
	}))
	faults := check(data{"clientCertificate": certificate, "clientKey": key})
	require.Len(t, faults, 1)
	require.Equal(t, "jobData.clientKey", faults[0].Field)
	require.Equal(t, "not_allowed", faults[0].Code)
	faults = check(data{"clientCertificate": certificate})
	require.Len(t, faults, 1)
	require.Equal(t, "jobData.clientKey", faults[0].Field)
}

// What fails for the trust of one job holds no other job back from the host.
func TestAFailureToAgreeOnTLSIsOfOneIdentityAlone(t *testing.T) {
	server := asking(t, func(http.ResponseWriter, *http.Request) {})
	bounds := open()
	bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 2, time.Hour
	bounds.Roots = x509.NewCertPool()
	bounds.Roots.AddCert(server.Certificate())
	x := httpcall.New(clock.NewSystem(), bounds)
	defer x.Close()
	wrong, key := client(t, "another authority")
	attack := data{"url": server.URL, "certificateAuthority": wrong}
	for range 2 {
		require.Contains(t, runs(t, x, attack).Message, "agree on TLS")
	}
	require.Contains(t, runs(t, x, attack).Message, "held back", "the job itself is held back")
	require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": server.URL}).Status)
	require.Equal(t, entity.StatusSuccess,
		runs(t, x, data{"url": server.URL, "certificateAuthority": authority(server)}).Status)
	own := data{
		"url": server.URL, "certificateAuthority": authority(server), "clientCertificate": wrong,
		"clientKey": "${secret.KEY}",
	}
	require.Equal(t, entity.StatusSuccess, runWithKey(t, x, key, own).Status)
	require.Contains(t, runs(t, x, attack).Message, "held back", "what others reach says nothing of this one")
}
