package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// exampleHead begins the reference configuration.
const exampleHead = `# The reference configuration: every key with its meaning and, as a comment, its
# default. Give it as --config FILE or PS_CONFIG. Variables of the environment
# stand over the file, flags over both; a variable of a secret may name a file
# instead (PS_STORE_DSN_FILE).
`

// Example returns a configuration that holds every key as a comment, so that it sets nothing.
func Example() (string, error) {
	var b strings.Builder
	b.WriteString(exampleHead)
	var open []string
	for _, s := range Settings() {
		parts := strings.Split(s.Name, ".")
		path, name := parts[:len(parts)-1], parts[len(parts)-1]
		same := 0
		for same < len(open) && same < len(path) && open[same] == path[same] {
			same++
		}
		if same < len(path) || len(path) < len(open) || len(path) == 0 {
			b.WriteByte('\n')
		}
		for i := same; i < len(path); i++ {
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), path[i])
		}
		open = path
		if err := s.example(&b, strings.Repeat("  ", len(path)), name); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (s Setting) example(b *strings.Builder, indent, name string) error {
	value, err := yaml.Marshal(s.Value)
	if err != nil {
		return fmt.Errorf("write the default of %s: %w", s.Name, err)
	}
	text := strings.TrimSpace(string(value))
	if list, ok := s.Value.([]string); ok {
		text = "[" + strings.Join(list, ", ") + "]"
	}
	for _, line := range wrap(strings.NewReplacer("`", "", "**", "").Replace(s.Meaning), 78-len(indent)) {
		fmt.Fprintf(b, "%s# %s\n", indent, line)
	}
	fmt.Fprintf(b, "%s# %s; %s\n", indent, s.Takes, s.Variable)
	if s.Standalone != written(s.Value) {
		fmt.Fprintf(b, "%s# By default: %s\n", indent, strings.ReplaceAll(s.Standalone, "`", ""))
	}
	if s.Cluster != s.Standalone && s.Cluster != "" {
		fmt.Fprintf(b, "%s# In a cluster: %s\n", indent, strings.ReplaceAll(s.Cluster, "`", ""))
	}
	_, err = fmt.Fprintf(b, "%s#%s: %s\n", indent, name, text)
	return err
}

// wrap splits a text into lines of at most so many characters.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
