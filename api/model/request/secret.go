package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
)

// SecretBody documents the body of POST /secrets.
type SecretBody struct {
	Name        string `json:"name" maxLength:"50"`
	Value       string `json:"value" minLength:"6" maxLength:"65536"`
	Description string `json:"description,omitempty"`
	// Groups are those whose jobs may use it; absent or empty is every group, which
	// only admins may say.
	Groups     []string  `json:"groups,omitempty"`
	Version    int       `json:"version,omitempty" readonly:"true"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// SecretChange documents the body of PUT /secrets/{name}.
type SecretChange struct {
	// Value is left as it is where it is absent.
	Value       string `json:"value,omitempty" minLength:"6" maxLength:"65536"`
	Description string `json:"description,omitempty"`
	// Groups are left as they are where they are absent; empty is every group.
	Groups []string `json:"groups,omitempty"`
	// Force takes the secret also from jobs that name it.
	Force bool `json:"force,omitempty"`
	// Version is the one that was read; If-Match may name it instead.
	Version    int       `json:"version,omitempty" minimum:"0"`
	Name       string    `json:"name,omitempty" readonly:"true"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ReadSecret reads the body of POST /secrets.
func ReadSecret(r *http.Request) (service.SecretInput, error) {
	var e service.SecretEdit
	err := readFields(r, func(b *binder) {
		b.text("name", &e.Name)
		bindSecret(b, &e)
		b.ignore("version")
	})
	return e.SecretInput, err
}

// ReadSecretChange reads the body of PUT /secrets/{name}. The version that the
// caller has seen may be left to If-Match: then it is 0.
func ReadSecretChange(r *http.Request) (service.SecretEdit, error) {
	var e service.SecretEdit
	err := readFields(r, func(b *binder) {
		integer(b, "version", &e.Version)
		bindSecret(b, &e)
		b.boolean("force", &e.Force)
		b.ignore("name")
	})
	return e, err
}

func bindSecret(b *binder, e *service.SecretEdit) {
	e.KeepValue, e.KeepGroups = b.object.fields["value"] == nil, b.object.fields["groups"] == nil
	b.text("description", &e.Description)
	b.text("value", &e.Value)
	e.Groups, _ = b.strings("groups")
	b.ignore("groups", "createTime", "updateTime") // what GET shows may be sent back
}
