package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// maxPage is the most items of one page of the API.
const maxPage = 200

// page is one page of a list, its items as they were answered.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor *string           `json:"nextCursor"`
}

// Pages reads a list from where query's cursor stands, page by page, at most limit items; 0 is all. answer
// is what one call with that limit would answer: the very bytes where one call sufficed.
func (c *Client) Pages(ctx context.Context, path string, query url.Values,
	limit int,
) (answer json.RawMessage, items []json.RawMessage, err error) {
	q := maps.Clone(query)
	if q == nil {
		q = url.Values{}
	}
	for calls := 1; ; calls++ {
		most := maxPage
		if limit > 0 {
			most = min(most, limit-len(items))
		}
		q.Set("limit", fmt.Sprint(most))
		var raw json.RawMessage
		if err := c.Call(ctx, http.MethodGet, path, q, nil, &raw); err != nil {
			return nil, nil, err
		}
		var p page
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, fmt.Errorf("the answer of %s is no list: %w", c.Server, err)
		}
		items = append(items, p.Items...)
		if p.NextCursor != nil && (limit == 0 || len(items) < limit) {
			q.Set("cursor", *p.NextCursor)
			continue
		}
		if calls > 1 {
			raw, err = joined(items, raw)
		}
		return raw, items, err
	}
}

// joined is one page of many items, in all else as the last page was answered.
// Items are copied, not encoded anew, so that each stays as it is.
func joined(items []json.RawMessage, last json.RawMessage) (json.RawMessage, error) {
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(last, &rest); err != nil {
		return nil, err
	}
	delete(rest, "items")
	all := []byte(`{"items":[`)
	for i, item := range items {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, item...)
	}
	all = append(all, ']')
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		key, err := json.Marshal(name) // %q escapes as Go does
		if err != nil {
			return nil, err
		}
		all = fmt.Appendf(all, ",%s:%s", key, rest[name])
	}
	return append(all, '}'), nil
}

// List reads a list to its end, at most limit items; 0 is all.
func List[T any](ctx context.Context, c *Client, path string, query url.Values, limit int) ([]T, error) {
	_, items, err := c.Pages(ctx, path, query, limit)
	if err != nil {
		return nil, err
	}
	return Decode[T](items)
}

// Decode reads the items of a list.
func Decode[T any](items []json.RawMessage) ([]T, error) {
	out := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &out[i]); err != nil {
			return nil, fmt.Errorf("an item of the list is not understood: %w", err)
		}
	}
	return out, nil
}
