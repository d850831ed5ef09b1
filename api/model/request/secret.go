package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
)

// SecretBody is the body of POST /secrets.
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

// SecretChange is the body of PUT /secrets/{name}.
type SecretChange struct {
	// Value is left as it is where it is absent.
	Value       *string `json:"value,omitempty" minLength:"6" maxLength:"65536"`
	Description string  `json:"description,omitempty"`
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
func ReadSecret(r *http.Request) (secret.SecretInput, error) {
	body, err := readBody[SecretBody](r, nil)
	return secret.SecretInput{
		Name: body.Name, Value: body.Value, Description: body.Description,
		Groups: groupsOf(body.Groups),
	}, err
}

// ReadSecretChange reads the body of PUT /secrets/{name}. The version that the
// caller has seen may be left to If-Match: then it is 0.
func ReadSecretChange(r *http.Request) (secret.SecretEdit, error) {
	body, err := readBody[SecretChange](r, nil)
	return secret.SecretEdit{
		SecretInput: secret.SecretInput{
			Value: or(body.Value, ""), Description: body.Description,
			Groups: groupsOf(body.Groups),
		},
		KeepValue: body.Value == nil, KeepGroups: body.Groups == nil, Force: body.Force, Version: body.Version,
	}, err
}

// groupsOf are the groups of a secret; an empty list is every group, like none.
func groupsOf(given []string) []string { return append([]string(nil), given...) }
