package request

import (
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Login is the body of POST /auth/login.
type Login struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// ReadLogin reads it.
func ReadLogin(r *http.Request) (Login, error) {
	var l Login
	err := readTexts(r, map[string]*string{"username": &l.Username, "password": &l.Password}, "username", "password")
	return l, err
}

// ChangePassword is the body of POST /auth/password.
type ChangePassword struct {
	OldPassword string `json:"oldPassword"`
	NewPassword string `json:"newPassword" minLength:"8" maxLength:"256"`
}

// ReadChangePassword reads it.
func ReadChangePassword(r *http.Request) (ChangePassword, error) {
	var c ChangePassword
	err := readTexts(r, map[string]*string{"oldPassword": &c.OldPassword, "newPassword": &c.NewPassword}, "oldPassword", "newPassword")
	return c, err
}

// readTexts binds an object of required texts, in that order.
func readTexts(r *http.Request, into map[string]*string, names ...string) error {
	o, err := parse(r, false)
	if err != nil {
		return err
	}
	var f faults
	b := newBinder(o, &f)
	for _, name := range names {
		before := len(f.list)
		b.text(name, into[name])
		if *into[name] == "" && len(f.list) == before {
			f.add(name, "required", "is required")
		}
	}
	b.close()
	return fault.Invalid(f.list)
}
