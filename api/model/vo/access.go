package vo

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Token is an API token as its owner may see it.
type Token struct {
	ID     string `json:"id"`
	UserID string `json:"userId"`
	Name   string `json:"name"`
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
		ID: t.ID, UserID: t.UserID, Name: t.Name, Scopes: t.Scopes, ExpiresAt: Time(t.ExpiresAt),
		LastUsedAt: Time(t.LastUsedAt),
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
		ID: e.ID, Time: Time(e.Time), UserID: e.UserID, Username: e.UserName, TokenID: e.TokenID, Address: e.Address,
		RequestID: e.RequestID,
		Action:    e.Action, Object: e.Object, ObjectName: e.ObjectName, Status: e.Status, Code: e.Code,
		Calls: max(e.Calls, 1),
	}
	if json.Valid([]byte(e.Changes)) {
		v.Changes = json.RawMessage(e.Changes)
	}
	return v
}
