package alert

import (
	"encoding/json"
	"fmt"
)

// Headed is what has the columns of a setting.
type Headed interface {
	head() *Head
}

func (h *Head) head() *Head { return h }

// HeadOf is what a setting has in columns.
func HeadOf(v Headed) *Head { return v.head() }

// headed is a pointer to the typed form of a setting.
type headed[T any] interface {
	*T
	Headed
}

// Read is the typed form of a setting. Fields that this release does not know are left
// out: a newer node may have written them.
func Read[T any, P headed[T]](s Setting) (P, error) {
	var out T
	if err := json.Unmarshal([]byte(s.Document), &out); err != nil {
		return nil, fmt.Errorf("read the %s %q: %w", s.Kind.Noun(), s.Name, err)
	}
	p := P(&out)
	*p.head() = s.Head
	return p, nil
}

// SettingOf is the stored form of what people define.
func SettingOf[T any, P headed[T]](kind Kind, v P) (Setting, error) {
	document, err := json.Marshal(v)
	if err != nil {
		return Setting{}, fmt.Errorf("write the %s %q: %w", kind.Noun(), v.head().Name, err)
	}
	return Setting{Head: *v.head(), Kind: kind, Document: string(document)}, nil
}
