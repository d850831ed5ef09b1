package sensitive_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

func TestSecretsInClearTextAreFound(t *testing.T) {
	t.Parallel()
	for data, paths := range map[string][]string{
		`{"url":"http://h","headers":{"Authorization":"Basic YTpi","Accept":"*/*"}}`: {"headers.Authorization"},
		`{"headers":{"x-api-key":"abc","cookie":"a=b"}}`:                             {"headers.cookie", "headers.x-api-key"},
		`{"headers":{"\u0041uthorization":"Basic YTpi"}}`:                            {"headers.Authorization"},
		`{"env":{"DB_PASSWORD":12345678,"N":7}}`:                                     {"env.DB_PASSWORD"},
		`{"accounts":[{"password":"x"},{"db":{"accessKey":"y"}}]}`: {
			"accounts[].password",
			"accounts[].db.accessKey",
		},
	} {
		inClear, hidden := sensitive.Find(data)
		require.Equal(t, paths, inClear, data)
		require.Empty(t, hidden, data)
	}
	for _, data := range []string{
		"", "{}", "null", "no JSON but a token", `{"headers":{"Authorization":"Bearer ${secret.TOKEN}"}}`,
		`{"env":{"TOKEN":"${params.token}","TOKEN_FILE":"/run/token","EMPTY_TOKEN":""}}`,
		`{"maxTokens":100,"secret":true,"token":null,"tokens":["a"]}`, `{"headers":{"Accept":"token"}}`,
	} {
		inClear, hidden := sensitive.Find(data)
		require.Empty(t, append(inClear, hidden...), data)
		require.Equal(t, data, sensitive.Hide(data))
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf(`"token%d":"x"`, i))
	}
	inClear, _ := sensitive.Find("{" + strings.Join(many, ",") + "}")
	require.Len(t, inClear, 20)
}

func TestSecretsInClearTextAreHidden(t *testing.T) {
	t.Parallel()
	const data = `{"url":"http://h?a=<b>","n":1.50,"headers":{"Authorization":"Basic YTpi","Accept":"*/*","X-Token":"${secret.T}"}}`
	hidden := sensitive.Hide(data)
	require.JSONEq(t, `{"url":"http://h?a=<b>","n":1.50,"headers":{"Authorization":"***","Accept":"*/*","X-Token":"${secret.T}"}}`, hidden)
	require.Contains(t, hidden, "1.50")
	require.Contains(t, hidden, "<b>")
	inClear, marked := sensitive.Find(hidden)
	require.Empty(t, inClear)
	require.Equal(t, []string{"headers.Authorization"}, marked)

	var decoded any
	require.NoError(t, json.Unmarshal([]byte(data), &decoded))
	text, err := json.Marshal(sensitive.HideIn(decoded))
	require.NoError(t, err)
	require.NotContains(t, string(text), "YTpi")
}

// The cost of a look at a definition grows with its length alone.
func TestLongNamesAreNotRepeatedForEveryValue(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("x", 250)
	data := `{"token":"x","a":` + strings.Repeat(`{"`+name+`":`, 60) + "[" + strings.Repeat("[0],",
		12_000) + "0]" + strings.Repeat("}", 61)
	allocated := testing.Benchmark(func(b *testing.B) {
		for range b.N {
			sensitive.Find(data)
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(20<<20))
}

func TestParametersWithSecretNamesAreHiddenWhateverTheyHold(t *testing.T) {
	t.Parallel()
	got := sensitive.HideAll(map[string]any{
		"day": 7, "token_file": "x",
		"list": []any{map[string]any{"API-Key": []any{1}}},
	})
	require.Equal(t, map[string]any{"day": 7, "token_file": "***", "list": []any{map[string]any{"API-Key": "***"}}}, got)
}
