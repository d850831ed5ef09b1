package config

import (
	"cmp"
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
	inCluster := cluster.keys()
	for i, k := range standalone.keys() {
		out = append(out, Setting{
			Name: k.name, Variable: variable(k.name), Secret: k.secret, Takes: k.takes(), Meaning: k.text, Value: k.show(),
			Standalone: cmp.Or(k.standalone, written(k.show())), Cluster: cmp.Or(k.cluster, written(inCluster[i].show())),
		})
	}
	return out
}

// takes describes the values of a key.
func (k key) takes() string {
	switch k.at.(type) {
	case *int:
		return strings.TrimSpace(fmt.Sprintf("%d to %d %s", k.min, k.max, k.unit))
	case *bool:
		return "true or false"
	case *[]string:
		if len(k.oneOf) > 0 {
			return "list of " + strings.Join(k.oneOf, ", ")
		}
		return "list"
	case *map[string]string:
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
