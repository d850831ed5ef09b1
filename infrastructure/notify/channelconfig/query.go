package channelconfig

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// hideQuery hides the values of the query of an address: they may be keys. Other values
// stay as they are.
func hideQuery(value any) any {
	text, ok := value.(string)
	if !ok || !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return value
	}
	address, query, has := strings.Cut(text, "?")
	if !has {
		return value
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, _, given := strings.Cut(part, "=")
		if given {
			parts[i] = name + "=" + sensitive.Hidden
		} else {
			parts[i] = sensitive.Hidden
		}
	}
	return address + "?" + strings.Join(parts, "&")
}

// keepHidden gives an edit the addresses that it holds as they were shown.
func keepHidden(before, after map[string]json.RawMessage) {
	for name, raw := range after {
		var was, is any
		if json.Unmarshal(before[name], &was) != nil || json.Unmarshal(raw, &is) != nil {
			continue
		}
		if text, ok := is.(string); ok && was != is && hideQuery(was) == any(text) {
			after[name] = before[name]
		}
	}
}

// minKey is the length from which a part of a path may be a key: shorter ones are words.
const minKey = 16

// KeysOf are what may be keys in an address, which no result may repeat: its path, long
// parts of it, and the values of the query.
func KeysOf(address string) (values []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	values = append(values, u.Path, u.EscapedPath())
	for part := range strings.SplitSeq(u.Path, "/") {
		if len(part) >= minKey {
			values = append(values, part)
		}
	}
	if u.RawQuery == "" {
		return values
	}
	for _, of := range u.Query() {
		values = append(values, of...)
	}
	return append(values, u.RawQuery)
}
