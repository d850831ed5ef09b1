package alert

import "time"

// Kind is what a setting of alerting is.
type Kind string

// The kinds.
const (
	KindRule     Kind = "RULE"
	KindChannel  Kind = "CHANNEL"
	KindSilence  Kind = "SILENCE"
	KindRoute    Kind = "ROUTE"
	KindTemplate Kind = "TEMPLATE"
	KindTeam     Kind = "TEAM"
	KindContact  Kind = "CONTACT"
	KindOnCall   Kind = "ON_CALL"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{
		KindRule, KindChannel, KindSilence, KindRoute, KindTemplate, KindTeam, KindContact, KindOnCall,
	}
}

// Head is what all settings have. It stands in columns, not in the document.
//
// The other fields of a setting are the stored document, the body that makes it and the answer that shows it. Their
// tags say so to the readers of bodies and to the document of the API: validate:"optional" is a field that a body may
// leave out, readonly one that only the server sets. Bounds are those of bodies.
type Head struct {
	ID string `json:"-"`
	// Name is unique among the settings of a kind, whatever their groups.
	Name string `json:"-"`
	// Group binds the setting to the jobs of a group; empty is all groups.
	Group   string `json:"-"`
	Enabled bool   `json:"-"`
	// Version counts the edits, from 1.
	Version    int       `json:"-"`
	CreateTime time.Time `json:"-"`
	UpdateTime time.Time `json:"-"`
}

// Setting is the stored form of what people define: rules, channels, silences, routes,
// templates, teams, contacts and on-call plans.
type Setting struct {
	Head
	Kind Kind
	// Document is the JSON of the kind's own fields.
	Document string
	// Sealed holds what nobody may read back, under the key KeyID; both are empty where
	// the setting has no such part.
	KeyID  string
	Sealed []byte
}

// Noun is what messages call a setting of the kind.
func (k Kind) Noun() string {
	switch k {
	case KindRule:
		return "alert rule"
	case KindChannel:
		return "alert channel"
	case KindSilence:
		return "silence"
	case KindRoute:
		return "alert route"
	case KindTemplate:
		return "alert template"
	case KindTeam:
		return "team"
	case KindContact:
		return "contact"
	default:
		return "on-call plan"
	}
}
