package main

// The part of Grafana's dashboard schema that is used here. schema/check.ts holds it to @grafana/schema.

// Dashboard is one page.
type Dashboard struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	SchemaVersion int        `json:"schemaVersion"`
	Version       int        `json:"version"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"`
	Refresh       string     `json:"refresh"`
	Time          Span       `json:"time"`
	Timezone      string     `json:"timezone"`
	Templating    Templating `json:"templating"`
	Links         []Link     `json:"links"`
	Panels        []Panel    `json:"panels"`
}

// Span is what is shown at first.
type Span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Templating holds the variables.
type Templating struct {
	List []Variable `json:"list"`
}

// Variable is chosen at the top of the page.
type Variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Query      string  `json:"query"`
	Datasource *Source `json:"datasource,omitempty"`
	Refresh    int     `json:"refresh,omitempty"`
	Sort       int     `json:"sort,omitempty"`
	Multi      bool    `json:"multi,omitempty"`
	IncludeAll bool    `json:"includeAll,omitempty"`
	AllValue   string  `json:"allValue,omitempty"`
	Current    *Option `json:"current,omitempty"`
}

// Option is a value of a variable.
type Option struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Link leads to the other dashboards.
type Link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Icon        string   `json:"icon"`
	Tooltip     string   `json:"tooltip"`
	URL         string   `json:"url"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	TargetBlank bool     `json:"targetBlank"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
}

// Source names a data source.
type Source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Panel is a figure, or, with the type row, a heading.
type Panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         Grid             `json:"gridPos"`
	Collapsed       *bool            `json:"collapsed,omitempty"`
	Panels          *[]Panel         `json:"panels,omitempty"`
	Datasource      *Source          `json:"datasource,omitempty"`
	Targets         []Target         `json:"targets,omitempty"`
	FieldConfig     *FieldConfig     `json:"fieldConfig,omitempty"`
	Options         any              `json:"options,omitempty"`
	Transformations []Transformation `json:"transformations,omitempty"`
}

// Grid is a place: 24 columns are a line.
type Grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Target is a query of Prometheus.
type Target struct {
	RefID        string `json:"refId"`
	Datasource   Source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Instant      bool   `json:"instant"`
	Range        bool   `json:"range"`
	Format       string `json:"format,omitempty"`
	Exemplar     bool   `json:"exemplar,omitempty"`
}

// FieldConfig says how values are shown.
type FieldConfig struct {
	Defaults  Field `json:"defaults"`
	Overrides []any `json:"overrides"`
}

// Field are the settings of all values of a panel.
type Field struct {
	Unit       string      `json:"unit,omitempty"`
	Min        *float64    `json:"min,omitempty"`
	Max        *float64    `json:"max,omitempty"`
	NoValue    string      `json:"noValue,omitempty"`
	Thresholds *Thresholds `json:"thresholds,omitempty"`
	Custom     any         `json:"custom,omitempty"`
}

// Thresholds color a value.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []Step `json:"steps"`
}

// Step is the color from a value on; nil is the least of all.
type Step struct {
	Value *float64 `json:"value"`
	Color string   `json:"color"`
}

// Transformation changes a table before it is shown.
type Transformation struct {
	ID      string `json:"id"`
	Options any    `json:"options"`
}

// Reduce makes one value of a series.
type Reduce struct {
	Calcs  []string `json:"calcs"`
	Fields string   `json:"fields"`
	Values bool     `json:"values"`
}

// Legend says what each line is.
type Legend struct {
	Calcs       []string `json:"calcs"`
	DisplayMode string   `json:"displayMode"`
	Placement   string   `json:"placement"`
	ShowLegend  bool     `json:"showLegend"`
}

// Tooltip is shown at the pointer.
type Tooltip struct {
	Mode string `json:"mode"`
	Sort string `json:"sort"`
}

// Graph are the options of the type timeseries.
type Graph struct {
	Legend  Legend  `json:"legend"`
	Tooltip Tooltip `json:"tooltip"`
}

// Stat are the options of the type stat.
type Stat struct {
	ColorMode              string `json:"colorMode"`
	GraphMode              string `json:"graphMode"`
	JustifyMode            string `json:"justifyMode"`
	TextMode               string `json:"textMode"`
	Orientation            string `json:"orientation"`
	PercentChangeColorMode string `json:"percentChangeColorMode"`
	ShowPercentChange      bool   `json:"showPercentChange"`
	WideLayout             bool   `json:"wideLayout"`
	ReduceOptions          Reduce `json:"reduceOptions"`
}

// Table are the options of the type table.
type Table struct {
	FrameIndex int    `json:"frameIndex"`
	ShowHeader bool   `json:"showHeader"`
	CellHeight string `json:"cellHeight"`
}

// Lines draw a graph.
type Lines struct {
	DrawStyle   string `json:"drawStyle"`
	LineWidth   int    `json:"lineWidth"`
	FillOpacity int    `json:"fillOpacity"`
	ShowPoints  string `json:"showPoints"`
	SpanNulls   bool   `json:"spanNulls"`
	Stacking    Stack  `json:"stacking"`
}

// Stack puts lines onto each other.
type Stack struct {
	Mode  string `json:"mode"`
	Group string `json:"group"`
}
