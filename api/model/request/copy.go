package request

import (
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// CopyBody documents the body of POST /jobs/{id}/copy.
type CopyBody struct {
	Name  string `json:"name,omitempty"`
	Group string `json:"group,omitempty"`
}

// VersionBody documents a body of nothing but a version.
type VersionBody struct {
	Version int `json:"version,omitempty"`
}

// ReadCopy reads the body of POST /jobs/{id}/copy, which may be empty.
func ReadCopy(r *http.Request) (name, group string, err error) {
	o, err := parse(r, true)
	if err != nil {
		return "", "", err
	}
	var f faults
	b := newBinder(o, &f)
	b.text("name", &name)
	b.text("group", &group)
	b.close()
	return name, group, apperror.Invalid(f.list)
}

// ReadVersion reads a body of nothing but the version that the caller has
// seen; it is required unless If-Match was given.
func ReadVersion(r *http.Request, ifMatch bool) (version int, err error) {
	o, err := parse(r, true)
	if err != nil {
		return 0, err
	}
	var f faults
	b := newBinder(o, &f)
	integer(b, "version", &version)
	b.close()
	if version <= 0 && !ifMatch && len(f.list) == 0 {
		f.add("version", "required", "must be the version that you have read, or send it as If-Match")
	}
	return version, apperror.Invalid(f.list)
}
