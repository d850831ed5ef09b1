package channelconfig

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Unmasked is a configuration without the secrets for which sensitive.Hidden stands, and their names. wrong are lists
// and maps of secrets of which a part is hidden: nobody can tell which stored value it stands for.
func Unmasked(text alert.ChannelConfig, config any) (out alert.ChannelConfig, masked []string, wrong []apperror.Field) {
	members, wrong := object(text)
	if wrong != nil {
		return text, nil, wrong
	}
	p := &Problems{}
	for _, name := range SecretNames(config) {
		const hidden = `"` + sensitive.Hidden + `"`
		switch raw := string(members[name]); {
		case raw == hidden:
			masked = append(masked, name)
			delete(members, name)
		case strings.Contains(raw, hidden):
			p.Add(name, "hidden_value", "has %s for a part: write each value, or %[1]s for the whole field", sensitive.Hidden)
		}
	}
	written, err := json.Marshal(members)
	if err != nil {
		p.Add("", validation.CodeInvalid, "must be a JSON object")
	}
	return alert.ChannelConfig(written), masked, p.Fields()
}

// Missing names what the configuration needs and does not have: masked secrets that no stored one replaced, secrets
// that it needs, and addresses of which a value of the query is hidden. rest is what is wrong beside them.
func Missing(text alert.ChannelConfig, config any, masked []string, wrong []apperror.Field) (
	missing []string, rest []apperror.Field,
) {
	members, unreadable := object(text)
	if unreadable != nil {
		return nil, unreadable
	}
	absent := slices.DeleteFunc(SecretNames(config), func(name string) bool {
		return members[name] != nil && string(members[name]) != "null"
	})
	for _, name := range masked {
		if slices.Contains(absent, name) {
			missing = append(missing, name)
		}
	}
	for _, f := range wrong {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Field, Path+"."), "[")
		switch {
		case slices.Contains(absent, name):
			missing = append(missing, name)
		case name == "username" && string(members[name]) != `""` && slices.Contains(absent, "password"):
			missing = append(missing, "password") // a user needs one
		default:
			rest = append(rest, f)
		}
	}
	missing = append(missing, HiddenAddresses(text, config)...)
	slices.Sort(missing)
	return slices.Compact(missing), rest
}

// HiddenAddresses names the addresses of which a value of the query is hidden. Nobody can send there.
func HiddenAddresses(text alert.ChannelConfig, config any) (names []string) {
	members, _ := object(text)
	for _, f := range fieldsOf(config) {
		var value any
		raw, given := members[f.name]
		if !f.secret && given && json.Unmarshal(raw, &value) == nil && hiddenQuery(value) {
			names = append(names, f.name)
		}
	}
	return names
}

// hiddenQuery reports whether a part of the query of an address is hidden.
func hiddenQuery(value any) bool {
	address, _ := value.(string)
	_, query, _ := strings.Cut(address, "?")
	return slices.ContainsFunc(strings.Split(query, "&"), func(part string) bool {
		return part == sensitive.Hidden || strings.HasSuffix(part, "="+sensitive.Hidden)
	})
}
