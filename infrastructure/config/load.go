package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

// mostCommands bounds the commands at one time where no key sets a bound, if there are enough
// processors.
const mostCommands = 16

// delimiter joins the parts of a key inside koanf. It is not a dot, so that a label a.b in the
// file stays one label.
const delimiter = "\x1f"

// Options says where Load reads the configuration.
type Options struct {
	// File is a YAML file; empty stands for PS_CONFIG, or no file. A file with a "-" before its
	// name need not exist, as in systemd.
	File string
	// Environ is os.Environ() in the product.
	Environ []string
	// Flags maps keys such as server.addr to values of the command line.
	Flags map[string]string
}

// Load reads, merges and checks the configuration. The error is of type Problems and names all
// wrong keys. The warnings name PS_* variables without a meaning here. Neither holds the value
// of a secret.
func Load(o Options) (c Config, warnings []string, err error) {
	var problems Problems
	env, warnings := readEnviron(o.Environ, &problems)
	if o.File == "" {
		o.File = lookupEnv(o.Environ, "PS_CONFIG")
	}
	ko := koanf.New(delimiter)
	if o.File != "" {
		readFile(ko, o.File, &problems)
	}
	given := flatten(ko, &problems)
	sources := map[string]Source{}
	note := func(values map[string]any, from Source) {
		for name, value := range values {
			if value != nil { // a key without a value leaves what holds
				sources[name] = from
			}
		}
	}
	note(given, SourceFile)
	note(env, SourceEnvironment)
	maps.Copy(given, env)
	flags := flagValues(o.Flags, &problems)
	note(flags, SourceFlag)
	maps.Copy(given, flags)

	profile := ProfileStandalone
	if s, ok := given["profile"].(string); ok && strings.EqualFold(s, ProfileCluster) {
		profile = ProfileCluster
	}
	c = Defaults(profile)
	c.sources = sources
	for _, k := range c.keys() {
		v, ok := given[k.name]
		if !ok || v == nil {
			continue
		}
		if err := k.assign(v); err != nil {
			problems.add(k.name, err.Error())
		}
	}
	if given["store.driver"] == nil && c.Store.DSN != "" {
		c.Store.Driver = DriverMySQL // nothing else is named by a DSN
	}
	// Commands run on this machine, and calls of private networks reach systems that trust it.
	// Without an explicit decision, only users of the machine get that.
	own := profile == ProfileStandalone && loopback(c.Server.Addr)
	if given["executor.command.enabled"] == nil {
		c.Executor.Command.Enabled = own
	}
	if given["executor.http.allowPrivate"] == nil {
		c.Executor.HTTP.AllowPrivate = own
	}
	if c.Executor.Command.Slots == 0 {
		// Two commands for each processor keep it busy.
		c.Executor.Command.Slots = min(mostCommands, 2*runtime.GOMAXPROCS(0))
	}
	nameNode(&c)
	problems = append(problems, c.problems()...)
	if len(problems) > 0 {
		return c, warnings, problems
	}
	return c, warnings, nil
}

func readFile(ko *koanf.Koanf, path string, problems *Problems) {
	path, optional := strings.CutPrefix(path, "-")
	raw, err := os.ReadFile(path)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return
	case errors.Is(err, fs.ErrNotExist):
		problems.add("--config", fmt.Sprintf("the file %s does not exist", path))
		return
	case err != nil:
		problems.add("--config", fmt.Sprintf("read %s: %v", path, err))
		return
	}
	if err := ko.Load(rawbytes.Provider(raw), yaml.Parser()); err != nil {
		problems.add("--config", fmt.Sprintf("%s is not a YAML mapping: %v", path, err))
	}
}

// flatten turns the file's tree into keys, and refuses keys that the table lacks.
func flatten(ko *koanf.Koanf, problems *Problems) map[string]any {
	known := names()
	out := map[string]any{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			path, v := prefix+name, m[name]
			if slices.Contains(known, path) {
				out[path] = v
				continue
			}
			child, isMap := v.(map[string]any)
			switch {
			case isMap && isSection(path):
				walk(path+".", child)
			case v == nil && isSection(path):
			default:
				problems.add(path, "is not a key of the configuration"+suggest(path))
			}
		}
	}
	walk("", ko.Raw())
	return out
}

func isSection(path string) bool {
	return slices.Contains(sections(names()), path)
}

// suggest returns the key that was probably meant: it differs only in case, separators or a few
// letters.
func suggest(name string) string {
	known := names()
	for _, k := range known {
		if plain(k) == plain(name) {
			return "; did you mean " + k + "?"
		}
	}
	// A wrong name of a section is not the name of a key.
	if near := spelling.Nearest(name, append(known, sections(known)...)); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// sections returns the names above the keys.
func sections(names []string) (out []string) {
	for _, name := range names {
		for i, c := range name {
			if c == '.' && !slices.Contains(out, name[:i]) {
				out = append(out, name[:i])
			}
		}
	}
	return out
}

func flagValues(flags map[string]string, problems *Problems) map[string]any {
	m := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !slices.Contains(names(), name) {
			problems.add(name, "is not a key of the configuration"+suggest(name))
			continue
		}
		m[name] = flags[name]
	}
	return m
}
