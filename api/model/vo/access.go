package vo

import (
	"encoding/json"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Token is an API token as its owner may see it.
type Token struct {
	ID     string `json:"id"`
	UserID string `json:"userId"`
	// UserName is the name of the owner; a new token leaves it out.
	UserName string `json:"userName,omitempty"`
	Name     string `json:"name"`
	// Scopes is null for all that the owner holds.
	Scopes     []string `json:"scopes" extensions:"x-nullable"`
	ExpiresAt  Time     `json:"expiresAt" format:"date-time"`
	LastUsedAt Time     `json:"lastUsedAt" format:"date-time" extensions:"x-nullable"`
	CreateTime Time     `json:"createTime" format:"date-time"`
	// Token is shown once, in the answer that made it.
	Token string `json:"token,omitempty"`
}

// FromToken makes the view of a token; secret is empty but for a new one.
func FromToken(t entity.Token, secret string) Token {
	return Token{
		ID: t.ID, UserID: t.UserID, UserName: t.UserName, Name: t.Name, Scopes: t.Scopes,
		ExpiresAt: Time(t.ExpiresAt), LastUsedAt: Time(t.LastUsedAt),
		CreateTime: Time(t.CreateTime), Token: secret,
	}
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	ID        string `json:"id"`
	Time      Time   `json:"time" format:"date-time"`
	UserID    string `json:"userId"`
	Username  string `json:"username"`
	TokenID   string `json:"tokenId"`
	Address   string `json:"address"`
	RequestID string `json:"requestId"`
	Action    string `json:"action"`
	// Object is the id of what the call was about, ObjectName its name.
	Object     string `json:"object"`
	ObjectName string `json:"objectName"`
	Status     int    `json:"status"`
	// Code is that of the problem; replayed for an answer that was given before.
	Code string `json:"code"`
	// Changes holds [before, after] by field; null where nothing was edited.
	Changes json.RawMessage `json:"changes" swaggertype:"object" extensions:"x-nullable"`
	// Calls is how many equal refused calls the entry stands for.
	Calls int `json:"calls" minimum:"1"`
}

// FromAudit makes the view of an entry.
func FromAudit(e entity.AuditEntry) AuditEntry {
	v := AuditEntry{
		ID: e.ID, Time: Time(e.Time), UserID: e.UserID, Username: e.UserName, TokenID: e.TokenID,
		Address: e.Address, RequestID: e.RequestID,
		Action: e.Action, Object: e.Object, ObjectName: e.ObjectName, Status: e.Status, Code: e.Code,
		Calls: max(e.Calls, 1),
	}
	if json.Valid([]byte(e.Changes)) {
		v.Changes = json.RawMessage(e.Changes)
	}
	return v
}

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

// Secret is a secret without its value, which nobody can read back.
type Secret struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Groups are those whose jobs may use it, as far as the caller sees them; null
	// is every group.
	Groups     []string `json:"groups" extensions:"x-nullable"`
	Version    int      `json:"version"`
	CreateTime Time     `json:"createTime" format:"date-time"`
	UpdateTime Time     `json:"updateTime" format:"date-time"`
}

// FromSecret makes the view of a secret for a caller.
func FromSecret(s entity.Secret, who entity.Principal) Secret {
	return Secret{
		Name: s.Name, Description: s.Description, Version: s.Version, CreateTime: Time(s.CreateTime),
		UpdateTime: Time(s.UpdateTime),
		Groups: slices.DeleteFunc(slices.Clone(s.Groups), func(group string) bool {
			return !permission.Sees(who, group)
		}),
	}
}

// SecretUse is a job that names a secret.
type SecretUse struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Group string `json:"group"`
}

// SecretUses are jobs that name a secret.
type SecretUses struct {
	Items []SecretUse `json:"items"`
	// More: there are others.
	More bool `json:"more"`
}

// FromSecretUses makes the view of the first jobs, at most limit.
func FromSecretUses(jobs []*entity.Job, limit int) SecretUses {
	v := SecretUses{Items: []SecretUse{}, More: len(jobs) > limit}
	for _, j := range jobs[:min(len(jobs), limit)] {
		v.Items = append(v.Items, SecretUse{ID: j.ID, Name: j.Name, Group: j.Group})
	}
	return v
}
