package connlimit

import (
	"errors"
	"io"
	"net/http"
)

// Bodies notes when the request of a connection has arrived whole: until then one of a stranger may
// have to make room for others.
func Bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := Of(r.Context()); c != nil {
			if r.Body == nil || r.Body == http.NoBody {
				c.Received()
			} else {
				r.Body = &body{r.Body, c}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// body tells its connection when it has been read.
type body struct {
	io.ReadCloser
	conn *Conn
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.conn.Received()
	}
	return n, err
}
