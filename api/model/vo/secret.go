package vo

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

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
