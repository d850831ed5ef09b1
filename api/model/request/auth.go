package request

import (
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Login is the body of POST /auth/login.
type Login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	// Cookie asks for the session as a cookie, which pages cannot read.
	Cookie bool `json:"cookie,omitempty"`
}

// ReadLogin reads it.
func ReadLogin(r *http.Request) (Login, error) {
	var l Login
	err := readFields(r, func(b *binder) {
		b.required("username", &l.Username)
		b.required("password", &l.Password)
		b.boolean("cookie", &l.Cookie)
	})
	return l, err
}

// ChangePassword is the body of POST /auth/password.
type ChangePassword struct {
	OldPassword string `json:"oldPassword"`
	NewPassword string `json:"newPassword" minLength:"10" maxLength:"256"`
	// KeepTokens leaves the user's API tokens as they are; else they are revoked.
	KeepTokens bool `json:"keepTokens,omitempty"`
}

// ReadChangePassword reads it.
func ReadChangePassword(r *http.Request) (ChangePassword, error) {
	var c ChangePassword
	err := readFields(r, func(b *binder) {
		b.required("oldPassword", &c.OldPassword)
		b.required("newPassword", &c.NewPassword)
		b.boolean("keepTokens", &c.KeepTokens)
	})
	return c, err
}

// readFields binds a body that is an object.
func readFields(r *http.Request, bind func(*binder)) error {
	o, err := parse(r, false)
	if err != nil {
		return err
	}
	var f faults
	b := newBinder(o, &f)
	bind(b)
	b.close()
	return apperror.Invalid(f.list)
}

// required binds a text that must not be empty.
func (b *binder) required(name string, dst *string) {
	before := len(b.faults.list)
	if b.text(name, dst); *dst == "" && len(b.faults.list) == before {
		b.faults.add(name, "required", "is required")
	}
}
