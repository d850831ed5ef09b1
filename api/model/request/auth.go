package request

import "net/http"

// Login is the body of POST /auth/login.
type Login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	// Cookie asks for the session as a cookie, which pages cannot read.
	Cookie bool `json:"cookie,omitempty"`
}

// ReadLogin reads it.
func ReadLogin(r *http.Request) (Login, error) {
	return readBody(r, func(l *Login, f *faults) {
		f.required("username", l.Username)
		f.required("password", l.Password)
	})
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
	return readBody(r, func(c *ChangePassword, f *faults) {
		f.required("oldPassword", c.OldPassword)
		f.required("newPassword", c.NewPassword)
	})
}
