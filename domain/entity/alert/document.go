package alert

import (
	"encoding/json"
	"fmt"
)

// Headed is a setting of any kind: it has the columns of one, and names others.
type Headed interface {
	head() *Head
	// References are the places where it names other objects; changes of them change the setting.
	References() []Reference
}

func (h *Head) head() *Head { return h }

// HeadOf is what a setting has in columns.
func HeadOf(v Headed) *Head { return v.head() }

// Defined is a pointer to the typed form of a setting.
type Defined[T any] interface {
	*T
	Headed
}

// documentVersion is the form of the documents that this release writes, their field v. Documents of former releases
// have none. A field that gets another name, or another meaning, needs a migration, and the next version.
const documentVersion = 1

// Read is the typed form of a setting. Fields that this release does not know are left
// out: a newer node may have written them.
func Read[T any, P Defined[T]](s Setting) (P, error) {
	var out T
	if err := json.Unmarshal([]byte(s.Document), &out); err != nil {
		return nil, fmt.Errorf("read the %s %q: %w", s.Kind.Noun(), s.Name, err)
	}
	p := P(&out)
	*p.head() = s.Head
	return p, nil
}

// ReadAny is Read where the type is known by the kind alone.
func ReadAny(s Setting) (Headed, error) {
	switch s.Kind {
	case KindRule:
		return Read[Rule](s)
	case KindChannel:
		return Read[Channel](s)
	case KindSilence:
		return Read[Silence](s)
	case KindRoute:
		return Read[Route](s)
	case KindTemplate:
		return Read[Template](s)
	case KindTeam:
		return Read[Team](s)
	case KindContact:
		return Read[Contact](s)
	case KindOnCall:
		return Read[OnCall](s)
	}
	return nil, fmt.Errorf("read the setting %q: nobody knows its kind %q", s.Name, s.Kind)
}

// SettingOf is the stored form of what people define.
func SettingOf[T any, P Defined[T]](kind Kind, v P) (Setting, error) {
	document, err := json.Marshal(v)
	if err != nil {
		return Setting{}, fmt.Errorf("write the %s %q: %w", kind.Noun(), v.head().Name, err)
	}
	text := fmt.Sprintf(`{"v":%d,%s`, documentVersion, document[1:])
	return Setting{Head: *v.head(), Kind: kind, Document: text}, nil
}
