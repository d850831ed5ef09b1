package placeholder_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

func TestTextsAreWalkedWithTheirPlaces(t *testing.T) {
	var seen []string
	value, err := placeholder.Texts{
		Each: func(place, text string) string {
			seen = append(seen, place+"="+text)
			return strings.ToUpper(text)
		},
		Name:  func(place, name string) { seen = append(seen, place+"/"+name) },
		Label: func(name string) string { return name[:1] },
	}.Walk("data", []byte(`{"zeta": ["a", 12345678901234567890, ["b"]], "alpha": {"x": "c", "w": null}, "on": true}`))
	require.NoError(t, err)
	require.Equal(t, []string{
		"data/alpha", "data.a/w", "data.a/x", "data.a.x=c", "data/on", "data/zeta", "data.z[0]=a", "data.z[2][0]=b",
	}, seen)
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.Equal(t, `{"alpha":{"w":null,"x":"C"},"on":true,"zeta":["A",12345678901234567890,["B"]]}`, string(text))
	_, err = placeholder.Texts{}.Walk("", []byte(`{"a": `))
	require.Error(t, err)
}

func TestStepsReadAreNamedOnce(t *testing.T) {
	require.Equal(t, []string{"a", "b"}, placeholder.StepsRead([]byte(
		`["${steps.a.status}", {"x": "${steps.b.output.n:-1} and ${steps.a.reason}", "y": "${run.id} ${params.p}"}, 7]`)))
	require.Empty(t, placeholder.StepsRead([]byte(`["plain"]`)))
	require.Empty(t, placeholder.StepsRead([]byte(`["${steps.a.status}"`)))
}
