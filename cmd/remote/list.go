package remote

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// Pages are the flags of a list.
type Pages struct {
	limit  int
	cursor string
}

// Flags adds them to a command.
func (p *Pages) Flags(c *cobra.Command, limit int) {
	c.Flags().IntVar(&p.limit, "limit", limit, "the largest number of items; 0 for all")
	c.Flags().StringVar(&p.cursor, "cursor", "", "continue after the list that ended with this nextCursor")
}

// Limit is the most items to read; 0 is all.
func (p *Pages) Limit() int { return p.limit }

// Query is where to begin.
func (p *Pages) Query() url.Values { return Query("cursor", p.cursor) }

// Column is one column of a table.
type Column[T any] struct {
	Name string
	Of   func(T) string
}

// Query makes parameters of names and values; empty values are left out.
func Query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// List prints a list of the API: its answer, or a table with the columns.
func List[T any](s *Session, c *cobra.Command, path string, query url.Values, p Pages, columns ...Column[T]) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	return ListOf(s, c, api, path, query, p, columns...)
}

// ListOf is List with a client that is there already.
func ListOf[T any](s *Session, c *cobra.Command, api *client.Client, path string, query url.Values, p Pages,
	columns ...Column[T],
) error {
	if query == nil {
		query = url.Values{}
	}
	if p.cursor != "" {
		query.Set("cursor", p.cursor)
	}
	answer, items, err := api.Pages(c.Context(), path, query, p.limit)
	if err != nil {
		return err
	}
	return Show(s, answer, items, columns...)
}

// Whole prints a list that the API answers in one page.
func Whole[T any](s *Session, c *cobra.Command, path string, query url.Values, columns ...Column[T]) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := api.Call(c.Context(), "GET", path, query, nil, &answer); err != nil {
		return err
	}
	var page struct{ Items []json.RawMessage }
	if err := json.Unmarshal(answer, &page); err != nil {
		return err
	}
	return Show(s, answer, page.Items, columns...)
}

// Show prints items: as they were answered, or as a table.
func Show[T any](s *Session, answer json.RawMessage, items []json.RawMessage, columns ...Column[T]) error {
	if !s.ForPeople() {
		return s.Raw(answer)
	}
	typed, err := client.Decode[T](items)
	if err != nil {
		return err
	}
	header, rows := make([]string, len(columns)), make([][]string, len(typed))
	for i, column := range columns {
		header[i] = strings.ToUpper(column.Name)
	}
	for i, item := range typed {
		for _, column := range columns {
			rows[i] = append(rows[i], column.Of(item))
		}
	}
	return s.Rows(header, rows)
}

// Get makes a call and prints its answer, for people by show.
func Get[T any](s *Session, c *cobra.Command, path string, query url.Values, show func(T) error) error {
	return Send(s, c, "GET", path, query, nil, show)
}

// Send makes a call and prints its answer; show, which may be nil, does so for
// people.
func Send[T any](s *Session, c *cobra.Command, method, path string, query url.Values, body any,
	show func(T) error,
) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	return SendBy(s, c, api, method, path, query, body, show)
}

// SendBy is Send with a client that is there already.
func SendBy[T any](s *Session, c *cobra.Command, api *client.Client, method, path string, query url.Values, body any,
	show func(T) error,
) error {
	var answer json.RawMessage
	if err := api.Call(c.Context(), method, path, query, body, &answer); err != nil {
		return err
	}
	if !s.ForPeople() || show == nil {
		return s.Raw(answer)
	}
	var v T
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &v); err != nil {
			return err
		}
	}
	return show(v)
}
