package request

import (
	"net/http"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// ReadUser reads the body of POST /users.
func ReadUser(r *http.Request) (service.NewUser, error) { return readUser(r, true) }

// ReadUserChange reads the body of PUT /users/{id}: the role, and a password
// where it shall change.
func ReadUserChange(r *http.Request) (service.NewUser, error) { return readUser(r, false) }

func readUser(r *http.Request, fresh bool) (n service.NewUser, err error) {
	o, err := parse(r, false)
	if err != nil {
		return n, err
	}
	var f faults
	b := newBinder(o, &f)
	if fresh {
		b.text("username", &n.Name)
	}
	b.text("password", &n.Password)
	enum(b, "role", &n.Role)
	if groups, given := b.labelsOf("groups"); given {
		n.Groups = map[string]entity.Role{}
		for group, role := range groups {
			n.Groups[group] = entity.Role(role)
		}
	}
	b.boolean("commands", &n.Commands)
	// What GET shows may be sent back.
	b.ignore("id", "username", "permissions", "createTime", "updateTime")
	b.close()
	return n, fault.Invalid(f.list)
}

// ReadToken reads the body of POST /tokens.
func ReadToken(r *http.Request) (n service.NewToken, err error) {
	o, err := parse(r, false)
	if err != nil {
		return n, err
	}
	var f faults
	b := newBinder(o, &f)
	b.text("name", &n.Name)
	if scopes, given := b.strings("scopes"); given {
		n.Scopes = append([]string{}, scopes...)
	}
	b.time("expiresAt", &n.ExpiresAt)
	b.close()
	known := make([]string, 0, len(permission.Scopes()))
	for _, p := range permission.Scopes() {
		known = append(known, string(p))
	}
	for _, scope := range n.Scopes {
		if !slices.Contains(known, scope) {
			f.add("scopes", "unknown_value", "must name permissions among %s; leave it out for all that you hold", strings.Join(known, ", "))
			break
		}
	}
	return n, fault.Invalid(f.list)
}
