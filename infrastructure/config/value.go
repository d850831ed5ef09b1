package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// assign stores a value of the file (typed by YAML), or of the environment or flags (always a
// string). The error says what is expected.
func (k key) assign(c *Config, v any) error {
	switch k.kind {
	case kindNumber:
		return k.assignNumber(c, v)
	case kindSwitch:
		return k.assignSwitch(c, v)
	case kindList:
		return k.assignList(c, v)
	case kindLabels:
		return k.assignLabels(c, v)
	default:
		return k.assignText(c, v)
	}
}

func (k key) assignText(c *Config, v any) error {
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
	*k.text(c) = s
	return nil
}

func (k key) assignNumber(c *Config, v any) error {
	n, err := strconv.Atoi(strings.TrimSpace(fmt.Sprint(v)))
	if err != nil || n < k.min || n > k.max {
		return fmt.Errorf("must be a whole number from %d to %d", k.min, k.max)
	}
	*k.number(c) = n
	return nil
}

func (k key) assignSwitch(c *Config, v any) error {
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(v))) {
	case "true", "1", "yes", "on":
		*k.flag(c) = true
	case "false", "0", "no", "off":
		*k.flag(c) = false
	default:
		return fmt.Errorf("must be true or false")
	}
	return nil
}

func (k key) assignList(c *Config, v any) error {
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
	*k.list(c) = items
	return nil
}

func (k key) assignLabels(c *Config, v any) error {
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
	*k.labels(c) = labels
	return nil
}

// show returns the value as YAML would hold it.
func (k key) show(c *Config) any {
	switch k.kind {
	case kindNumber:
		return *k.number(c)
	case kindSwitch:
		return *k.flag(c)
	case kindList:
		return append([]string{}, *k.list(c)...)
	case kindLabels:
		return *k.labels(c)
	default:
		return *k.text(c)
	}
}
