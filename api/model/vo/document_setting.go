package vo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// SettingList is the name of the list of one kind in the part alerting of a document.
func SettingList(kind alert.Kind) string {
	return map[alert.Kind]string{
		alert.KindChannel: "channels", alert.KindTemplate: "templates", alert.KindContact: "contacts",
		alert.KindTeam: "teams", alert.KindOnCall: "onCall", alert.KindRule: "rules", alert.KindRoute: "routes",
		alert.KindSilence: "silences",
	}[kind]
}

// NamedFields are the fields of bodies that hold ids, by what they are called in documents, where they hold names.
func NamedFields() map[string]string {
	return map[string]string{
		"channels": "channelIds", "onCall": "onCallId", "template": "templateId", "user": "userId", "team": "teamId",
		"jobs": "jobIds", "job": "jobId",
	}
}

// DocumentField is what documents call a field of bodies.
func DocumentField(body string) string {
	for document, of := range NamedFields() {
		if of == body {
			return document
		}
	}
	return body
}

// NestedReferences are the fields of settings inside of which others are named. Everything else that nests holds keys
// of users.
func NestedReferences() []string { return []string{"scope", "actions", "shifts"} }

// unwritten are the fields of answers that nobody writes.
var unwritten = []string{
	"version", "id", "createTime", "updateTime", "editorId", "default", "suspendedUntil", "by", "active", "warnings",
	"secrets",
}

// SettingEntry is a setting of a document, its references being names. A channel has sensitive.Hidden for each of its
// secrets, which an import takes for the one that is stored.
func SettingEntry(v alert.Headed) (json.RawMessage, error) {
	text, err := json.Marshal(settingView(v))
	if err != nil {
		return nil, err
	}
	return documentForm(text, true)
}

func settingView(v alert.Headed) any {
	switch v := v.(type) {
	case *alert.Channel:
		config := map[string]any{}
		for name, value := range v.Public {
			config[name] = value
		}
		for _, name := range v.Secrets {
			config[name] = sensitive.Hidden
		}
		return Channel{SettingHead: headOf(v.Head), Type: v.Type, Language: v.Language, Config: config}
	case *alert.Template:
		return FromTemplate(v)
	case *alert.Contact:
		return Contact{headOf(v.Head), *v}
	case *alert.Team:
		return FromTeam(v)
	case *alert.OnCall:
		return FromOnCall(v)
	case *alert.Rule:
		return FromRule(v)
	case *alert.Route:
		return FromRoute(v)
	case *alert.Silence:
		return FromSilence(v, time.Time{})
	}
	return nil
}

// documentForm writes an object of an answer as it stands in a document, in the same order: names in the place of
// ids, and neither what nobody writes nor what is empty.
func documentForm(text json.RawMessage, top bool) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if slices.Contains(NestedReferences(), name) {
			if value, err = nestedForm(value); err != nil {
				return nil, err
			}
		}
		if top && slices.Contains(unwritten, name) || isDefault(name, string(value)) {
			continue
		}
		fmt.Fprintf(&out, ",%q:%s", DocumentField(name), value)
	}
	return append([]byte("{"), append(bytes.TrimPrefix(out.Bytes(), []byte(",")), '}')...), nil
}

// isDefault reports whether a field says what is so without it.
func isDefault(name, value string) bool {
	if name == "enabled" {
		return value == "true"
	}
	return slices.Contains([]string{"null", "[]", "{}", `""`, "0", "false"}, value)
}

func nestedForm(value json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return documentForm(value, false)
	}
	for i, item := range list {
		var err error
		if list[i], err = documentForm(item, false); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}

// ImportSetting is what became, or would become, of one setting of alerting of a document.
type ImportSetting struct {
	Kind alert.Kind `json:"kind" enums:"CHANNEL,TEMPLATE,CONTACT,TEAM,ON_CALL,RULE,ROUTE,SILENCE"`
	Name string     `json:"name"`
	// Group is null for a setting of all groups.
	Group *string `json:"group" extensions:"x-nullable"`
	// ID is empty for a setting that was not created.
	ID     string                  `json:"id"`
	Action definition.ChangeAction `json:"action"`
	// Changes holds [before, after] by field; secrets and addresses of people are hidden.
	Changes map[string][2]any `json:"changes"`
	Error   *ImportError      `json:"error" extensions:"x-nullable"`
	// Warnings say what is missing, so that the setting does less than it says; absent for none.
	Warnings []Warning `json:"warnings,omitempty"`
}

func fromSettingChange(c definition.SettingChange, dryRun bool) ImportSetting {
	h := alert.HeadOf(c.Setting())
	v := ImportSetting{
		Kind: c.Kind, Name: h.Name, Group: optional(h.Group), ID: h.ID, Action: c.Action, Changes: map[string][2]any{},
		Warnings: FromWarnings(c.Warnings),
	}
	if c.Action == definition.ActionCreate && (dryRun || c.Err != nil) {
		v.ID = ""
	}
	if c.Action == definition.ActionUpdate {
		v.Changes = settingChanges(c)
	}
	return v
}

// settingChanges are the fields that differ.
func settingChanges(c definition.SettingChange) map[string][2]any {
	changes, old, now := map[string][2]any{}, shownFields(c.Shown[0]), shownFields(c.Shown[1])
	for _, fields := range []map[string]any{old, now} {
		for name := range fields {
			if !reflect.DeepEqual(old[name], now[name]) {
				changes[name] = [2]any{orEmpty(old[name]), orEmpty(now[name])}
			}
		}
	}
	if channel, is := c.After.(*alert.Channel); is && channel.Partial.Changed && len(changes) == 0 {
		changes["config"] = [2]any{sensitive.Hidden, sensitive.Hidden}
	}
	return changes
}

// orEmpty is a value, or an empty text where there is none.
func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// shownFields are those of the view for readers who may see neither secrets nor addresses.
func shownFields(v alert.Headed) map[string]any {
	view := settingView(v)
	switch of := view.(type) {
	case Channel:
		view = of.Noted()
	case Contact:
		view = FromContact(&of.Contact, entity.Principal{})
	}
	fields := asMap(view)
	for _, name := range unwritten {
		delete(fields, name)
	}
	if config, is := fields["config"].(map[string]any); is {
		delete(fields, "config")
		for name, value := range config {
			fields["config."+name] = value
		}
	}
	for document, body := range NamedFields() {
		if value, has := fields[body]; has {
			fields[document] = value
			delete(fields, body)
		}
	}
	return fields
}
