package config

// Source says where the value of a setting comes from.
type Source string

// The sources, each stronger than the one before it.
const (
	SourceDefault     Source = "DEFAULT"
	SourceFile        Source = "FILE"
	SourceEnvironment Source = "ENVIRONMENT"
	SourceFlag        Source = "FLAG"
)

// Effective is a setting with the value that this node has.
type Effective struct {
	Setting
	// Current is the value; of a secret it is what is shown in its place.
	Current any
	Source  Source
}

// Effective returns all settings with their values, in the order in which they are shown.
func (c *Config) Effective() []Effective {
	values := c.Masked()
	var out []Effective
	for _, s := range Settings() {
		e := Effective{Setting: s, Current: values[s.Name], Source: SourceDefault}
		if from, given := c.sources[s.Name]; given {
			e.Source = from
		}
		out = append(out, e)
	}
	return out
}
