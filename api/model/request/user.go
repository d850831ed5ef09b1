package request

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

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
	Scopes []string `json:"scopes,omitempty" enums:"job:read,job:write,job:run,job:command,execution:read,execution:write,secret:read,secret:write,node:write,alert:read,alert:write,alert:ack,channel:write,user:admin,audit:read"`
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
