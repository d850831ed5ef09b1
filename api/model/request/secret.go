package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// SecretBody documents the body of POST /secrets.
type SecretBody struct {
	Name        string    `json:"name" maxLength:"50"`
	Value       string    `json:"value" minLength:"6" maxLength:"65536"`
	Description string    `json:"description,omitempty"`
	Version     int       `json:"version,omitempty" readonly:"true"`
	CreateTime  time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime  time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// SecretChange documents the body of PUT /secrets/{name}.
type SecretChange struct {
	Value       string `json:"value" minLength:"6" maxLength:"65536"`
	Description string `json:"description,omitempty"`
	// Version is the one that was read; If-Match may name it instead.
	Version    int       `json:"version,omitempty" minimum:"0"`
	Name       string    `json:"name,omitempty" readonly:"true"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ReadSecret reads the body of POST /secrets.
func ReadSecret(r *http.Request) (service.NewSecret, error) {
	n, _, err := readSecret(r, true)
	return n, err
}

// ReadSecretValue reads the body of PUT /secrets/{name}: the new value and the
// version that the caller has seen, which may be left to If-Match.
func ReadSecretValue(r *http.Request) (n service.NewSecret, version int, err error) {
	return readSecret(r, false)
}

func readSecret(r *http.Request, named bool) (n service.NewSecret, version int, err error) {
	o, err := parse(r, false)
	if err != nil {
		return n, 0, err
	}
	var f faults
	b := newBinder(o, &f)
	if named {
		b.text("name", &n.Name)
	} else {
		integer(b, "version", &version)
	}
	b.text("description", &n.Description)
	b.text("value", &n.Value)
	// What GET shows may be sent back.
	b.ignore("name", "version", "createTime", "updateTime")
	b.close()
	return n, version, fault.Invalid(f.list)
}
