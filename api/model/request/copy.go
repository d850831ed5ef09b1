package request

import "net/http"

// CopyBody is the body of POST /jobs/{id}/copy.
type CopyBody struct {
	Name  string `json:"name,omitempty"`
	Group string `json:"group,omitempty"`
}

// VersionBody is a body of nothing but a version.
type VersionBody struct {
	Version int `json:"version,omitempty"`
}

// ReadCopy reads the body of POST /jobs/{id}/copy, which may be empty.
func ReadCopy(r *http.Request) (CopyBody, error) { return readAnyBody[CopyBody](r, nil) }

// ReadVersion reads a body of nothing but the version that the caller has
// seen; it is required unless If-Match was given.
func ReadVersion(r *http.Request, ifMatch bool) (version int, err error) {
	body, err := readAnyBody(r, func(body *VersionBody, f *faults) {
		if body.Version <= 0 && !ifMatch && len(f.list) == 0 {
			f.add("version", "required", "must be the version that you have read, or send it as If-Match")
		}
	})
	return body.Version, err
}
