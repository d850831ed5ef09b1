package httpcall_test

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/hosts"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// BenchmarkRun shows what a call costs on kept connections against a new one
// for every attempt. The target runs in the same process and its share is part
// of the figure.
func BenchmarkRun(b *testing.B) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	plain, secure, two := httptest.NewServer(answer), httptest.NewTLSServer(answer), httptest.NewUnstartedServer(answer)
	two.EnableHTTP2 = true
	two.StartTLS()
	defer plain.Close()
	defer secure.Close()
	defer two.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	roots.AddCert(two.Certificate())
	for _, target := range []struct {
		name   string
		server *httptest.Server
	}{{"http", plain}, {"https", secure}, {"http2", two}} {
		for _, keep := range []bool{false, true} {
			name := target.name + "/new"
			if !keep && target.name == "http2" {
				continue // nobody opens a connection for one stream
			}
			if keep {
				name = target.name + "/kept"
			}
			b.Run(name, func(b *testing.B) {
				target.server.Config.SetKeepAlivesEnabled(keep)
				x := httpcall.New(clock.NewSystem(), httpcall.Settings{
					Guard: outbound.New(outbound.Policy{AllowPrivate: true}), Roots: roots,
					Hosts: hosts.Settings{PerHost: 256, BreakAfter: 20},
				})
				defer x.Close()
				text, err := json.Marshal(map[string]string{"url": target.server.URL})
				require.NoError(b, err)
				run, rep := executortest.NewRun(entity.JobHTTP, "", string(text)), silent{}
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if o := x.Run(b.Context(), run, rep); o.Status != entity.StatusSuccess {
							b.Error(o.Message)
							return
						}
					}
				})
			})
		}
	}
}

// silent is a Reporter that keeps nothing.
type silent struct{}

func (silent) Log(entity.LogType, string) {}
func (silent) Progress(int)               {}
func (silent) Checkpoint(string)          {}
func (silent) Waits() (begins func())     { return func() {} }
