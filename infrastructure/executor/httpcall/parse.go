package httpcall

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// The bounds of a definition, in bytes where not said otherwise.
const (
	maxURL          = 8 << 10
	maxBody         = 1 << 20
	maxExpectedBody = 4 << 10
	maxExpected     = 256
	maxMethod       = 16
	maxPEM          = 64 << 10
)

// DefaultExpected are the statuses of success when a job names none.
const DefaultExpected = "200-299"

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// definition is the job data as it was written. Its texts become those of one
// run between reading and checking, so that what is sent is what was checked.
type definition struct {
	method, url, body            string
	expectedStatus, expectedBody string
	headers                      map[string]string
	async                        bool
	// certificate, key and authority are PEM texts.
	certificate, key, authority string
}

// call is a checked definition.
type call struct {
	method   string
	url      *url.URL
	header   http.Header
	body     string
	expected statuses
	contains string
	// async: the answer only begins the run, the target reports its end later.
	async bool
	// identity is what the call needs of TLS beyond any other; it may be nil.
	identity *identity
}

// parse reads and checks job data; the call is usable when nothing is wrong.
func parse(data string) (call, []fault.Field) {
	r := jobdata.Read(data)
	d := read(r)
	c := d.check(r)
	return c, r.End()
}

func read(r *jobdata.Reader) definition {
	d := definition{
		method:         r.Text("method", maxMethod),
		url:            r.Text("url", maxURL),
		headers:        r.Texts("headers"),
		body:           r.Text("body", maxBody),
		expectedStatus: r.Text("expectedStatus", maxExpected),
		expectedBody:   r.Text("expectedBody", maxExpectedBody),
	}
	d.async = r.Boolean("async")
	d.certificate = r.Text("clientCertificate", maxPEM)
	d.key = r.Text("clientKey", maxPEM)
	d.authority = r.Text("certificateAuthority", maxPEM)
	return d
}

func (d definition) check(r *jobdata.Reader) call {
	c := call{
		method: d.method, url: checkURL(r, d.url), header: checkHeaders(r, d.headers),
		body: d.body, contains: d.expectedBody, async: d.async, identity: checkIdentity(r, d),
	}
	if c.method == "" {
		c.method = http.MethodGet
	}
	switch {
	case !slices.Contains(methods, c.method):
		r.Fault("method", "unknown_value", "must be one of %s", strings.Join(methods, ", "))
	case c.body != "" && (c.method == http.MethodGet || c.method == http.MethodHead):
		r.Fault("body", "conflict", "%s sends no body; set method to POST, or leave the body out", c.method)
	}
	expected := d.expectedStatus
	if expected == "" {
		expected = DefaultExpected
	}
	var ok bool
	if c.expected, ok = parseStatuses(expected); !ok {
		r.Fault("expectedStatus", "invalid", `must list statuses and ranges between 200 and 599, such as "200-299" or "200,204,300-302"`)
	}
	return c
}
