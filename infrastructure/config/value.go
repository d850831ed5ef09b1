package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// assign stores a value of the file (typed by YAML), or of the environment or flags (always a
// string). The error says what is expected.
func (k key) assign(v any) error {
	switch at := k.at.(type) {
	case *int:
		return k.assignNumber(at, v)
	case *bool:
		return assignSwitch(at, v)
	case *[]string:
		return k.assignList(at, v)
	case *map[string]string:
		return assignLabels(at, v)
	case *string:
		return k.assignText(at, v)
	}
	return fmt.Errorf("has a type that no value has")
}

func (k key) assignText(at *string, v any) error {
	s, ok := v.(string)
	if !ok {
		if _, nested := v.(map[string]any); nested || k.secret {
			return fmt.Errorf("must be a string; put it in quotes")
		}
		if _, isList := v.([]any); isList {
			return fmt.Errorf("must be one string, not a list")
		}
		s = fmt.Sprint(v)
	}
	if len(k.oneOf) > 0 && !(k.optional && s == "") {
		// The value keeps the spelling of the table, whatever case the user wrote.
		i := slices.IndexFunc(k.oneOf, func(o string) bool { return strings.EqualFold(o, s) })
		if i < 0 {
			return fmt.Errorf("must be one of %s", strings.Join(k.oneOf, ", "))
		}
		s = k.oneOf[i]
	}
	*at = s
	return nil
}

func (k key) assignNumber(at *int, v any) error {
	n, err := strconv.Atoi(strings.TrimSpace(fmt.Sprint(v)))
	if err != nil || n < k.min || n > k.max {
		return fmt.Errorf("must be a whole number from %d to %d", k.min, k.max)
	}
	*at = n
	return nil
}

func assignSwitch(at *bool, v any) error {
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(v))) {
	case "true", "1", "yes", "on":
		*at = true
	case "false", "0", "no", "off":
		*at = false
	default:
		return fmt.Errorf("must be true or false")
	}
	return nil
}

func (k key) assignList(at *[]string, v any) error {
	var items []string
	switch l := v.(type) {
	case []any:
		for _, item := range l {
			if _, nested := item.(map[string]any); nested {
				return fmt.Errorf("must be a list of strings")
			}
			items = append(items, strings.TrimSpace(fmt.Sprint(item)))
		}
	case map[string]any:
		return fmt.Errorf("must be a list of strings")
	default:
		for item := range strings.SplitSeq(fmt.Sprint(v), ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	for _, item := range items {
		if len(k.oneOf) > 0 && !slices.Contains(k.oneOf, item) {
			return fmt.Errorf("%q is not one of %s", item, strings.Join(k.oneOf, ", "))
		}
	}
	*at = items
	return nil
}

func assignLabels(at *map[string]string, v any) error {
	labels := map[string]string{}
	switch m := v.(type) {
	case map[string]any:
		for name, value := range m {
			switch value.(type) {
			case map[string]any, []any:
				return fmt.Errorf("the label %q must be a string", name)
			}
			labels[name] = fmt.Sprint(value)
		}
	case string:
		for pair := range strings.SplitSeq(m, ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			name, value, ok := strings.Cut(pair, "=")
			if name = strings.TrimSpace(name); !ok || name == "" {
				return fmt.Errorf("must be written name=value,name=value")
			}
			labels[name] = strings.TrimSpace(value)
		}
	default:
		return fmt.Errorf("must be a mapping of names to strings")
	}
	*at = labels
	return nil
}

// show returns the value as YAML would hold it.
func (k key) show() any {
	if items, ok := k.at.(*[]string); ok {
		return append([]string{}, *items...)
	}
	return reflect.ValueOf(k.at).Elem().Interface()
}
