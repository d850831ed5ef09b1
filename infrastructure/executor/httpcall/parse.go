package httpcall

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// The bounds of a definition, in bytes unless the name says otherwise.
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

// definition is the job data with its placeholders replaced: the call sends what was checked.
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
	method string
	url    *url.URL
	header http.Header
	body   string
	// secretBody means that the body holds a secret, or may: nobody can tell once it is filled.
	secretBody bool
	expected   statuses
	contains   string
	// async means that the answer only begins the run, and the target reports its end later.
	async bool
	// credentials is what the call needs of TLS beyond other calls, or nil.
	credentials *credentials
}

// parse reads and checks job data. The call is usable when there are no errors.
func parse(data string, run *placeholder.Values) (call, []apperror.Field) {
	r := jobdata.Read(data, run)
	d := read(r)
	c := d.check(r)
	return c, r.End()
}

func read(r *jobdata.Reader) definition {
	headers, contentType := readHeaders(r)
	d := definition{
		headers:        headers,
		body:           r.Template("body", maxBody, placeholder.Body(contentType, r.Peek("body"))),
		method:         r.Text("method", maxMethod),
		url:            knownAddress(r.Template("url", maxURL, placeholder.URL)),
		expectedStatus: r.Scalar("expectedStatus", maxExpected),
		expectedBody:   r.Template("expectedBody", maxExpectedBody, placeholder.Raw),
		async:          r.Boolean("async"),
		certificate:    r.Template("clientCertificate", maxPEM, placeholder.Raw),
		key:            r.Template("clientKey", maxPEM, placeholder.Raw),
		authority:      r.Template("certificateAuthority", maxPEM, placeholder.Raw),
	}
	if key := r.Peek("clientKey"); key != "" && !r.Filled() && len(placeholder.SecretNames(key)) == 0 {
		r.Reject("clientKey", "not_allowed",
			"must not stand in the definition: create a secret and name it, such as ${secret.CLIENT_KEY}")
	}
	return d
}

// readHeaders reads the headers, and of these the Content-Type. One that is made of values and says
// nothing about the form of the body counts as none: values do not choose that nothing is escaped.
func readHeaders(r *jobdata.Reader) (headers map[string]string, contentType string) {
	headers = r.Texts("headers")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		text := headers[name]
		headers[name] = r.Expand("headers."+name, text, placeholder.Raw)
		if strings.EqualFold(name, "Content-Type") {
			if contentType = headers[name]; placeholder.Holds(text) && !placeholder.Formed(contentType) {
				contentType = ""
			}
		}
	}
	return headers, contentType
}

func (d definition) check(r *jobdata.Reader) call {
	c := call{
		method:      d.method,
		url:         checkURL(r, d.url),
		header:      checkHeaders(r, d.headers),
		body:        d.body,
		secretBody:  r.Filled() || len(placeholder.SecretNames(r.Peek("body"))) > 0,
		contains:    d.expectedBody,
		async:       d.async,
		credentials: checkCredentials(r, d),
	}
	if c.method == "" {
		c.method = http.MethodGet
	}
	switch {
	case !slices.Contains(methods, c.method):
		r.Reject("method", "unknown_value", "must be one of %s", strings.Join(methods, ", "))
	case c.body != "" && (c.method == http.MethodGet || c.method == http.MethodHead):
		r.Reject("body", "conflict", "%s sends no body; set method to POST, or leave the body out", c.method)
	}
	expected := d.expectedStatus
	if expected == "" {
		expected = DefaultExpected
	}
	var ok bool
	if c.expected, ok = parseStatuses(expected); !ok {
		r.Reject("expectedStatus", "invalid",
			`must list statuses and ranges between 200 and 599, such as "200-299" or "200,204,300-302"`)
	}
	return c
}
