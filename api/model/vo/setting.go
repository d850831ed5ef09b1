package vo

// Setting is a setting of the node that answers. Each change of one needs a restart.
type Setting struct {
	Name string `json:"name"`
	// Variable is its name in the environment.
	Variable string `json:"variable"`
	// Value is that of this node; of a secret it is what is shown in its place.
	Value  any    `json:"value" extensions:"x-nullable"`
	Secret bool   `json:"secret"`
	Source string `json:"source" enums:"DEFAULT,FILE,ENVIRONMENT,FLAG"`
	// Takes describes the values, with bounds and unit, Meaning what it is for.
	Takes   string `json:"takes"`
	Meaning string `json:"meaning"`
}

// Settings are all settings of a node.
type Settings struct {
	NodeID string    `json:"nodeId"`
	Items  []Setting `json:"items"`
}
