package vo

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Secret is a secret without its value, which nobody can read back.
type Secret struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     int    `json:"version"`
	CreateTime  Time   `json:"createTime" format:"date-time"`
	UpdateTime  Time   `json:"updateTime" format:"date-time"`
}

// FromSecret makes the view of a secret.
func FromSecret(s entity.Secret) Secret {
	return Secret{Name: s.Name, Description: s.Description, Version: s.Version, CreateTime: Time(s.CreateTime), UpdateTime: Time(s.UpdateTime)}
}
