package persistence_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/test/maximal"
)

// definitions are maximal settings of each kind, and what validation says of them.
func definitions(n int) map[alert.Kind]struct {
	of    any
	wrong []apperror.Field
} {
	type made = struct {
		of    any
		wrong []apperror.Field
	}
	rule, silence, route := maximal.Rule(n), maximal.Silence(n, storetest.Noon), maximal.Route(n)
	team, contact, plan := maximal.Team(n), maximal.Contact(n), maximal.OnCall(n)
	return map[alert.Kind]made{
		alert.KindRule:     {rule, alerting.ValidateRule(rule, expression.Language{})},
		alert.KindChannel:  {maximal.Channel(n), nil},
		alert.KindSilence:  {silence, alerting.ValidateSilence(silence, storetest.Noon)},
		alert.KindRoute:    {route, alerting.ValidateRoute(route)},
		alert.KindTemplate: {maximal.Template(n), nil},
		alert.KindTeam:     {team, alerting.ValidateTeam(team)},
		alert.KindContact:  {contact, alerting.ValidateContact(contact)},
		alert.KindOnCall:   {plan, alerting.ValidateOnCall(plan)},
	}
}

// defineMaximal stores a maximal setting of each kind, and reads it back.
func defineMaximal(t *testing.T, s *persistence.Store, n int) {
	t.Helper()
	for kind, made := range definitions(n) {
		require.Empty(t, made.wrong, "the API takes the %s", kind.Noun())
		document, err := json.Marshal(made.of)
		require.NoError(t, err)
		head := maximal.Head(n)
		head.ID, head.Group = fmt.Sprintf("%s-%d", kind, n), strings.Repeat(maximal.Scripts()[n], bounds.Group)
		head.Version, head.CreateTime, head.UpdateTime = 1, storetest.Noon, storetest.Noon
		want := alert.Setting{
			Head: head, Kind: kind, Document: string(document), KeyID: "k", Sealed: make([]byte, bounds.ChannelConfig+64),
		}
		require.NoError(t, s.AddAlertSetting(t.Context(), want), kind.Noun())
		got, err := s.AlertSetting(t.Context(), kind, head.ID)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Each text that people choose, of a job and of each kind of setting, stands in the table of bounds; and the maximal
// definitions fill each, up to its bound.
func TestEveryTextHasABound(t *testing.T) {
	t.Parallel()
	rows := append(bounds.Table(), bounds.Documents()...)
	row := func(path string) (found bounds.Row) {
		for _, r := range rows {
			if path == r.Field || strings.HasPrefix(path, r.Field+".") {
				return r
			}
		}
		require.Fail(t, path+" has no row in domain/bounds")
		return found
	}
	for n := range len(maximal.Scripts()) {
		job := storetest.PlannedJob(1, storetest.Noon)
		maximal.Job(job, n)
		maximal.Told(job, n)
		all := map[string]any{"": *job}
		for kind, made := range definitions(n) {
			all[string(kind)+"."] = reflect.ValueOf(made.of).Elem().Interface()
		}
		seen := map[string]bool{}
		for prefix, of := range all {
			size := map[string]int{}
			walk(reflect.ValueOf(of), prefix, func(path string, v reflect.Value) {
				r := row(path)
				seen[r.Field] = true
				require.False(t, v.IsZero(), "%s is not filled by test/maximal", path)
				text, err := json.Marshal(v.Interface())
				require.NoError(t, err)
				if size[r.Field] += len(text) + 1; r.Table != "scheduler_job_definition" {
					require.LessOrEqual(t, size[r.Field], r.Bytes+4, "%s as JSON", path)
				}
				if r.Characters > 0 && v.Kind() == reflect.String {
					require.LessOrEqual(t, utf8.RuneCountInString(v.String()), r.Characters, path)
					require.Greater(t, utf8.RuneCountInString(v.String()), r.Characters*9/10, path)
				}
			})
		}
		for _, r := range rows {
			inColumn := r.Field == "comment" || r.Field == "CHANNEL.config"
			require.True(t, seen[r.Field] || inColumn, "%s is no field any more", r.Field)
		}
	}
}

// walk calls each for every text of people in a value: plain strings, their lists and maps, and JSON. Strings of a
// type of their own are one of a few words, and what has no name in the document is none of people.
func walk(v reflect.Value, path string, each func(path string, v reflect.Value)) {
	for field, value := range v.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" {
			name = strings.ToLower(field.Name[:1]) + field.Name[1:]
		}
		at := path + name
		switch t := field.Type; {
		case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[[]time.Weekday](),
			t == reflect.TypeFor[[]entity.Reason]():
		case t == reflect.TypeFor[string](), t.Kind() == reflect.Map, t == reflect.TypeFor[json.RawMessage](),
			t == reflect.TypeFor[[]string]():
			each(at, value)
		case t.Kind() == reflect.Struct && field.Anonymous:
			walk(value, path, each)
		case t.Kind() == reflect.Struct:
			walk(value, at+".", each)
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
			walk(value.Index(0), at+".", each)
		case t.Kind() == reflect.Slice, t.Kind() == reflect.Pointer, t.Kind() == reflect.Interface:
			each(at, value)
		}
	}
}
