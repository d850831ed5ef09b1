package vo

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// User is a user as others may see it.
type User struct {
	ID          string                  `json:"id"`
	Username    string                  `json:"username"`
	Role        entity.Role             `json:"role"`
	Permissions []permission.Permission `json:"permissions"`
	// Groups are the groups the user sees, with the role in each; null is all.
	Groups map[string]entity.Role `json:"groups" extensions:"x-nullable"`
	// Commands is the right to define jobs that run commands.
	Commands bool `json:"commands"`
	// Secrets is the right to make secrets for one's groups.
	Secrets bool `json:"secrets"`
	// MustChangePassword: it is the first password, or an admin set it. Until the user
	// changes it, sessions in cookies change nothing else.
	MustChangePassword bool `json:"mustChangePassword"`
}

// FromUser makes the view of a user.
func FromUser(u entity.User) User {
	held := permission.Of(u)
	return User{
		ID: u.ID, Username: u.Name, Role: u.Role, Permissions: whole(held),
		Groups: u.Groups, Commands: slices.Contains(held, permission.JobCommand),
		Secrets: slices.Contains(held, permission.SecretWrite), MustChangePassword: u.MustChangePassword,
	}
}

// FromCaller makes the view of the user who calls: what an API token may not do
// is not among the permissions.
func FromCaller(who entity.Principal) User {
	u := FromUser(who.User)
	u.Permissions = slices.DeleteFunc(u.Permissions, func(p permission.Permission) bool {
		return !permission.Allows(who, p)
	})
	u.Commands, u.Secrets = slices.Contains(u.Permissions, permission.JobCommand),
		slices.Contains(u.Permissions, permission.SecretWrite)
	return u
}

// Login is a fresh session. The token is shown this once, and not at all where
// the session is kept in a cookie: then there is a CSRFToken instead.
type Login struct {
	Token     string `json:"token,omitempty"`
	CSRFToken string `json:"csrfToken,omitempty"`
	ExpiresAt Time   `json:"expiresAt" format:"date-time"`
	User      User   `json:"user"`
}

// FromLogin makes the view of a session that its user keeps.
func FromLogin(l access.Login) Login {
	return Login{Token: l.Token, ExpiresAt: Time(l.ExpiresAt), User: FromUser(l.User)}
}

// FromCookieLogin makes the view of a session that a cookie keeps.
func FromCookieLogin(l access.Login, csrfToken string) Login {
	return Login{CSRFToken: csrfToken, ExpiresAt: Time(l.ExpiresAt), User: FromUser(l.User)}
}

// Me is the user who asks. CSRFToken is set where a cookie keeps the session.
type Me struct {
	User
	CSRFToken string `json:"csrfToken,omitempty"`
}

// Session is a sign-in that goes on.
type Session struct {
	CreateTime Time `json:"createTime" format:"date-time"`
	ExpiresAt  Time `json:"expiresAt" format:"date-time"`
	// Current: the call came with it.
	Current bool `json:"current"`
}

// FromSession makes the view of a session, without its token.
func FromSession(s access.Session) Session {
	return Session{CreateTime: Time(s.CreateTime), ExpiresAt: Time(s.ExpiresAt), Current: s.Current}
}
