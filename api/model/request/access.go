package request

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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

// UserBody is the body of POST /users.
type UserBody struct {
	Username string `json:"username"`
	Password string `json:"password" minLength:"10" maxLength:"256"`
	UserRights
}

// UserChange is the body of PUT /users/{id}.
type UserChange struct {
	Username string `json:"username,omitempty" readonly:"true"`
	// Password is left as it is where it is absent.
	Password string `json:"password,omitempty" minLength:"10" maxLength:"256"`
	// KeepTokens leaves the API tokens as they are; else another password revokes
	// them.
	KeepTokens bool `json:"keepTokens,omitempty"`
	UserRights
}

// UserRights is what both have in common.
type UserRights struct {
	Role entity.Role `json:"role"`
	// Groups binds the user to the jobs of some groups, with a role in each.
	Groups map[string]entity.Role `json:"groups,omitempty"`
	// Commands is the right to define jobs that run commands.
	Commands bool `json:"commands,omitempty"`
	// Secrets is the right to make secrets for the groups of the user.
	Secrets bool `json:"secrets,omitempty"`
	// MustChangePassword asks the user for another password than the one that is set here. It counts for
	// nothing without one.
	MustChangePassword *bool     `json:"mustChangePassword,omitempty" default:"true"`
	ID                 string    `json:"id,omitempty" readonly:"true"`
	Permissions        []string  `json:"permissions,omitempty" readonly:"true"`
	CreateTime         time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime         time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// TokenBody is the body of POST /tokens.
type TokenBody struct {
	Name string `json:"name"`
	// Scopes narrow what the token may do; absent, it may do what its owner may.
	Scopes []string `json:"scopes,omitempty" enums:"job:read,job:write,job:run,job:command,execution:read,execution:write,workflow:approve,approval:vote,secret:read,secret:write,node:write,worker:write,worker:admin,alert:read,alert:write,alert:ack,channel:write,user:admin,audit:read"`
	// ExpiresAt is at most 366 days ahead.
	ExpiresAt time.Time `json:"expiresAt" format:"date-time"`
}

// ReadUser reads the body of POST /users.
func ReadUser(r *http.Request) (access.UserInput, error) {
	body, err := readBody[UserBody](r, nil)
	return access.UserInput{
		Name: body.Username, Password: body.Password, Role: body.Role, Rights: body.rights(),
		PasswordStays: body.passwordStays(),
	}, err
}

// ReadUserChange reads the body of PUT /users/{id}: the role, and a password
// where it shall change.
func ReadUserChange(r *http.Request) (access.UserInput, error) {
	body, err := readBody[UserChange](r, nil)
	return access.UserInput{
		Password: body.Password, KeepTokens: body.KeepTokens, Role: body.Role, Rights: body.rights(),
		PasswordStays: body.passwordStays(),
	}, err
}

func (u *UserRights) passwordStays() bool {
	return u.MustChangePassword != nil && !*u.MustChangePassword
}

func (u *UserRights) rights() entity.Rights {
	return entity.Rights{Groups: u.Groups, Commands: u.Commands, Secrets: u.Secrets}
}

// ReadToken reads the body of POST /tokens.
func ReadToken(r *http.Request) (access.TokenInput, error) {
	body, err := readBody(r, func(body *TokenBody, f *faults) {
		known := make([]string, 0, len(permission.Scopes()))
		for _, p := range permission.Scopes() {
			known = append(known, string(p))
		}
		for _, scope := range body.Scopes {
			if !slices.Contains(known, scope) {
				f.add("scopes", "unknown_value", "must name permissions among %s; leave it out for all that you hold",
					strings.Join(known, ", "))
				break
			}
		}
	})
	return access.TokenInput{Name: body.Name, Scopes: body.Scopes, ExpiresAt: body.ExpiresAt}, err
}

// SecretBody is the body of POST /secrets.
type SecretBody struct {
	Name string `json:"name" maxLength:"50"`
	// Value has 6 to 65,536 bytes; a shorter one could not be kept out of logs.
	Value       string `json:"value" minLength:"2" maxLength:"65536"`
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
	// Value is left as it is where it is absent. It has 6 to 65,536 bytes.
	Value       *string `json:"value,omitempty" minLength:"2" maxLength:"65536"`
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
