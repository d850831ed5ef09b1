package validation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// declared is a job with a parameter of each type.
func declared() *entity.Job {
	return &entity.Job{Parameters: []entity.JobParameter{
		{Name: "s", Type: entity.ParameterString, Required: true},
		{Name: "i", Type: entity.ParameterInteger, Default: json.RawMessage(`7`), Required: true},
		{Name: "n", Type: entity.ParameterNumber},
		{Name: "b", Type: entity.ParameterBoolean},
		{Name: "e", Type: entity.ParameterEnum, Values: []string{"eu", "us"}},
		{Name: "d", Type: entity.ParameterDate},
		{Name: "t", Type: entity.ParameterDateTime},
	}}
}

// Values are taken in their types, also where they are written as texts.
func TestParametersAreTakenInTheirTypes(t *testing.T) {
	for given, want := range map[string]string{
		`{"s":"x"}`: `{"s":"x"}`,
		`{"s":"5","i":"5","n":"1.5","b":"true","e":"us","d":"2026-02-28","t":"2026-02-28T06:00:00+01:00"}`: `{"s":"5","i":5,` +
			`"n":1.5,"b":true,"e":"us","d":"2026-02-28","t":"2026-02-28T06:00:00+01:00"}`,
		`{"s":"x","i":null,"n":2e3,"b":false}`: `{"s":"x","n":2e3,"b":false}`,
	} {
		params, wrong := validation.Params(declared(), given)
		require.Empty(t, wrong, given)
		require.JSONEq(t, want, params)
	}
	params, wrong := validation.Params(&entity.Job{}, `{"any": [1]}`)
	require.Empty(t, wrong)
	require.Equal(t, `{"any": [1]}`, params, "a job that declares nothing takes everything")
}

// All that is wrong with values is said at once.
func TestWrongParametersAreToldAtOnce(t *testing.T) {
	_, wrong := validation.Params(declared(), `{"i":1.5,"n":"x","b":1,"e":"asia","d":"2026-02-30","t":"noon","other":1}`)
	codes := map[string]string{}
	for _, w := range wrong {
		codes[w.Field] = w.Code
		require.NotEmpty(t, w.Message)
	}
	require.Equal(t, map[string]string{
		"params.s": "required", "params.i": "invalid", "params.n": "invalid", "params.b": "invalid", "params.e": "invalid",
		"params.d": "invalid", "params.t": "invalid", "params.other": "unknown_value",
	}, codes)
	_, wrong = validation.Params(declared(), "")
	require.Equal(t, []string{"params.s"}, fieldsOf(wrong), "a default stands for a required value")
	_, wrong = validation.Params(declared(), `{"s":"`+strings.Repeat("x", validation.MaxParameterBytes)+`"}`)
	require.Equal(t, []string{"params.s"}, fieldsOf(wrong))
}

func fieldsOf(wrong []apperror.Field) (out []string) {
	for _, w := range wrong {
		out = append(out, w.Field)
	}
	return out
}

// Parameters share a column of the store with the lists of channels: each is well alone, both together are too much.
func TestParametersAndChannelsAreBoundedTogether(t *testing.T) {
	job := &entity.Job{Parameters: []entity.JobParameter{{
		Name: "s", Type: entity.ParameterString, Default: json.RawMessage(`"` + strings.Repeat("x", 4<<10-2) + `"`),
	}, {
		Name: "t", Type: entity.ParameterString, Default: json.RawMessage(`"` + strings.Repeat("x", 4<<10-2) + `"`),
	}}}
	tooLarge := func() bool {
		return slices.ContainsFunc(validation.Job(job, time.Now()), func(f apperror.Field) bool {
			return f.Field == "parameters" && f.Code == validation.CodeTooLarge
		})
	}
	require.False(t, tooLarge())
	for i := range validation.MaxChannels {
		name := strings.Repeat("<", validation.MaxName-1) + string(rune('a'+i))
		for _, list := range []*[]string{
			&job.Alerts.OnFailure, &job.Alerts.OnSuccess, &job.Alerts.OnEnd, &job.Alerts.OnLate, &job.Alerts.OnRecovered,
		} {
			*list = append(*list, name)
		}
	}
	require.True(t, tooLarge())
	job.Parameters = job.Parameters[:1]
	job.Parameters[0].Default = nil
	require.False(t, tooLarge())
}
