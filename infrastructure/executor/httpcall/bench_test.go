package httpcall

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
)

// BenchmarkRun shows what a new connection for every attempt costs against
// kept ones, which would not keep the promise to send an attempt once. The
// target runs in the same process and its share is part of the figure.
func BenchmarkRun(b *testing.B) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	for _, target := range []struct{ name, url string }{{"http", plain.URL}, {"https", secure.URL}} {
		for _, keep := range []bool{false, true} {
			name := target.name + "/new"
			if keep {
				name = target.name + "/kept"
			}
			b.Run(name, func(b *testing.B) {
				transport := newTransport(roots)
				transport.DisableKeepAlives = !keep
				transport.MaxIdleConnsPerHost = 64
				defer transport.CloseIdleConnections()
				x := &Executor{clock: clock.NewSystem(), transport: transport}
				text, err := json.Marshal(map[string]string{"url": target.url})
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
