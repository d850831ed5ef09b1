package notifytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
)

// Example is a channel of a type, and what its receiver is like. It stands in testdata/example.json of
// the package of the type; the tests that hold for all channels go through the examples of all types.
type Example struct {
	Type alert.ChannelType `json:"-"`
	// Config has the fields without which no channel is made, More has others, with all secrets. In
	// their texts {address}, {host} and {port} are those of the receiver, and {secret} is a secret.
	Config map[string]any `json:"config"`
	More   map[string]any `json:"more"`
	// Taken is an answer that says that the message was taken. Reads: the answer is read.
	Taken string `json:"taken"`
	Reads bool   `json:"reads"`
	// Program: no person reads the messages. Mail: the receiver is a mail server.
	Program bool `json:"program"`
	Mail    bool `json:"mail"`
	// Calls are marks that would call people, or lead them elsewhere, if a name could make them.
	Calls []string `json:"calls"`
	// Bound is the longest text that the service takes.
	Bound struct {
		// Field is where the text stands in the message; "": the whole message counts.
		Field string `json:"field"`
		Most  int    `json:"most"`
		// Unit is bytes, characters or utf16.
		Unit string `json:"unit"`
	} `json:"bound"`
}

// Examples reads the examples of all types.
func Examples() ([]Example, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, fmt.Errorf("find the source: %w", err)
	}
	for root != filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "infrastructure", "notify")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	var out []Example
	for _, kind := range notify.Types() {
		path := filepath.Join(root, "infrastructure", "notify", strings.ToLower(string(kind)), "testdata", "example.json")
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the type %s has no example, which the tests of all channels need: %w", kind, err)
		}
		one := Example{Type: kind}
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if !one.Program && !one.Mail && len(one.Calls) == 0 {
			return nil, fmt.Errorf("%s names no calls: say which marks would call people", path)
		}
		out = append(out, one)
	}
	return out, nil
}

// HTTPExamples are the examples of all types whose receivers speak HTTP.
func HTTPExamples(t testing.TB) (out []Example) {
	t.Helper()
	all, err := Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if !one.Mail {
			out = append(out, one)
		}
	}
	return out
}

// Fill is the whole configuration with the address of a receiver, as http://host:port, and with a
// secret in each place of one.
func (e Example) Fill(address string, secret func() string) map[string]any {
	host, port := "", ""
	if u, err := url.Parse(address); err == nil {
		host, port, _ = net.SplitHostPort(u.Host)
	}
	whole := maps.Clone(e.Config)
	maps.Copy(whole, e.More)
	var fill func(v any) any
	fill = func(v any) any {
		switch v := v.(type) {
		case string:
			if v == "{port}" {
				return json.Number(port)
			}
			for strings.Contains(v, "{secret}") {
				v = strings.Replace(v, "{secret}", secret(), 1)
			}
			return strings.NewReplacer("{address}", address, "{host}", host).Replace(v)
		case map[string]any:
			out := map[string]any{}
			for name, part := range v {
				out[name] = fill(part)
			}
			return out
		}
		return v
	}
	return fill(whole).(map[string]any)
}

// Text is Fill as a text, with one secret in all places.
func (e Example) Text(address, secret string) alert.ChannelConfig {
	text, err := json.Marshal(e.Fill(address, func() string { return secret }))
	if err != nil {
		panic(err)
	}
	return alert.ChannelConfig(text)
}

// Size measures the bounded part of a message as its service does.
func (e Example) Size(body string) int {
	if e.Bound.Field == "" {
		return len(body)
	}
	var message any
	if json.Unmarshal([]byte(body), &message) != nil {
		return -1
	}
	return e.size(message, strings.Split(e.Bound.Field, "."))
}

func (e Example) size(v any, path []string) (most int) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			most = max(most, e.size(one, path))
		}
	case map[string]any:
		if len(path) > 0 {
			return e.size(v[path[0]], path[1:])
		}
	case string:
		for _, r := range v {
			switch {
			case e.Bound.Unit == "bytes":
				most += len(string(r))
			case e.Bound.Unit == "utf16" && r > 0xffff:
				most += 2
			default:
				most++
			}
		}
	}
	return most
}
