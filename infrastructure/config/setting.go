package config

import (
	"fmt"
	"strings"
)

// Setting describes a key of the configuration for people.
type Setting struct {
	Name string
	// Variable is its name in the environment. A secret may also be in a file; the variable with
	// _FILE behind its name then names the file.
	Variable string
	Secret   bool
	// Takes describes the possible values, with bounds and unit.
	Takes string
	// Standalone and Cluster are its defaults as a file writes them, or words where they depend
	// on something. Empty means no default.
	Standalone, Cluster string
	// Value is the default of a standalone server as a file writes it.
	Value   any
	Meaning string
}

// Settings returns all keys, in the order in which they are shown.
func Settings() []Setting {
	standalone, cluster := Defaults(ProfileStandalone), Defaults(ProfileCluster)
	standalone.Executor.Command.Enabled = loopback(standalone.Server.Addr)
	var out []Setting
	for _, k := range keys() {
		m := meanings[k.name]
		s := Setting{
			Name: k.name, Variable: variable(k.name), Secret: k.secret, Takes: k.takes(m.unit), Meaning: m.text,
			Value: k.show(&standalone), Standalone: m.standalone, Cluster: m.cluster,
		}
		if s.Standalone == "" {
			s.Standalone = written(k.show(&standalone))
		}
		if s.Cluster == "" {
			s.Cluster = written(k.show(&cluster))
		}
		out = append(out, s)
	}
	return out
}

// takes describes the values of a key.
func (k key) takes(unit string) string {
	switch k.kind {
	case kindNumber:
		text := fmt.Sprintf("%d to %d", k.min, k.max)
		if unit != "" {
			text += " " + unit
		}
		return text
	case kindSwitch:
		return "true or false"
	case kindList:
		if len(k.oneOf) > 0 {
			return "list of " + strings.Join(k.oneOf, ", ")
		}
		return "list"
	case kindLabels:
		return "names and strings"
	}
	if len(k.oneOf) > 0 {
		return strings.Join(k.oneOf, ", ")
	}
	return "text"
}

// written returns a value as a file writes it; "" for an empty one.
func written(v any) string {
	switch v := v.(type) {
	case []string:
		if len(v) == 0 {
			return ""
		}
		return "`[" + strings.Join(v, ", ") + "]`"
	case map[string]string:
		return "" // no default has any
	case string:
		if v == "" {
			return ""
		}
	}
	return fmt.Sprintf("`%v`", v)
}
