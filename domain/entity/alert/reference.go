package alert

import "fmt"

// The objects beside settings that a setting names, in the place of a Kind.
const (
	NamedUser = "USER"
	NamedJob  = "JOB"
)

// Reference is a place where a setting names another object. It is the one list of these places: checks of ids, the
// search for uses before a deletion, and documents, which have names in the place of ids, go by it.
type Reference struct {
	// To is the kind of what is named.
	To Kind
	// Field is the place in the body, such as shifts[0].teamId.
	Field string
	// ID is there to be read and to be replaced.
	ID *string
}

// References of a setting that names nothing are none.
func (h *Head) References() []Reference { return nil }

// References implements Headed.
func (r *Rule) References() []Reference {
	out := append(listed(NamedJob, "scope.jobIds", r.Scope.JobIDs), listed(KindChannel, "channelIds", r.ChannelIDs)...)
	for i := range r.Actions {
		out = append(out, named(NamedJob, fmt.Sprintf("actions[%d].jobId", i), &r.Actions[i].JobID)...)
	}
	return out
}

// References implements Headed.
func (r *Route) References() []Reference {
	out := append(listed(KindChannel, "channelIds", r.ChannelIDs), listed(KindChannel, "escalateTo", r.EscalateTo)...)
	out = append(out, named(KindOnCall, "onCallId", &r.OnCallID)...)
	return append(out, named(KindTemplate, "templateId", &r.TemplateID)...)
}

// References implements Headed.
func (t *Team) References() []Reference {
	return append(listed(NamedUser, "members", t.Members), listed(KindChannel, "channelIds", t.ChannelIDs)...)
}

// References implements Headed.
func (c *Contact) References() []Reference { return named(NamedUser, "userId", &c.UserID) }

// References implements Headed.
func (o *OnCall) References() (out []Reference) {
	for i := range o.Shifts {
		out = append(out, named(KindTeam, fmt.Sprintf("shifts[%d].teamId", i), &o.Shifts[i].TeamID)...)
	}
	return out
}

func listed(to Kind, field string, ids []string) (out []Reference) {
	for i := range ids {
		out = append(out, Reference{to, fmt.Sprintf("%s[%d]", field, i), &ids[i]})
	}
	return out
}

func named(to Kind, field string, id *string) []Reference {
	if *id == "" {
		return nil
	}
	return []Reference{{to, field, id}}
}
