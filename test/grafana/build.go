package main

import (
	"fmt"
	"strings"
)

const (
	tag = "platform-scheduler"
	// lineWidth is that of Grafana's grid.
	lineWidth = 24
	// schemaVersion is that of @grafana/schema 13: newer versions of Grafana raise it by themselves.
	schemaVersion = 39
)

func source() *Source { return &Source{Type: "prometheus", UID: "${datasource}"} }

// q is a query with the names of its lines.
type q struct{ expr, legend string }

// dashboard places the panels in lines.
func dashboard(uid, title, description string, variables []Variable, panels ...Panel) Dashboard {
	x, y, height := 0, 0, 0
	for i := range panels {
		p := &panels[i]
		p.ID = i + 1
		if x+p.GridPos.W > lineWidth {
			x, y, height = 0, y+height, 0
		}
		p.GridPos.X, p.GridPos.Y = x, y
		x, height = x+p.GridPos.W, max(height, p.GridPos.H)
		for t := range p.Targets {
			p.Targets[t].RefID = string(rune('A' + t))
		}
	}
	return Dashboard{
		UID: uid, Title: "Platform Scheduler: " + title, Description: description, Tags: []string{tag},
		SchemaVersion: schemaVersion, Version: 1, GraphTooltip: 1, Refresh: "30s",
		Time: Span{From: "now-1h", To: "now"}, Timezone: "browser",
		Templating: Templating{List: append([]Variable{{
			Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus",
			Current: &Option{Text: "Prometheus", Value: "platform-scheduler-prometheus"},
		}}, variables...)},
		Links: []Link{{
			Title: "Platform Scheduler", Type: "dashboards", Icon: "external link", Tags: []string{tag}, AsDropdown: true,
			IncludeVars: true, KeepTime: true,
		}},
		Panels: panels,
	}
}

// choice is a variable with the values of a label.
func choice(name, label, query string) Variable {
	return Variable{
		Name: name, Label: label, Type: "query", Query: query, Datasource: source(), Refresh: 2, Sort: 1, Multi: true,
		IncludeAll: true, AllValue: ".*", Current: &Option{Text: "All", Value: "$__all"},
	}
}

func instances() Variable {
	return choice("instance", "Node", "label_values(ps_build_info, instance)")
}

func row(title string) Panel {
	no, none := false, []Panel{}
	return Panel{Type: "row", Title: title, GridPos: Grid{H: 1, W: lineWidth}, Collapsed: &no, Panels: &none}
}

func targets(instant bool, format string, queries []q) (all []Target) {
	for _, one := range queries {
		all = append(all, Target{
			Datasource: *source(), Expr: one.expr, LegendFormat: one.legend, Instant: instant, Range: !instant, Format: format,
		})
	}
	return all
}

// graph is a third of a line.
func graph(title, unit, description string, queries ...q) Panel {
	zero := 0.0
	return Panel{
		Type: "timeseries", Title: title, Description: description, GridPos: Grid{H: 8, W: 8}, Datasource: source(),
		Targets: targets(false, "", queries),
		FieldConfig: &FieldConfig{Overrides: []any{}, Defaults: Field{Unit: unit, Min: &zero, Custom: Lines{
			DrawStyle: "line", LineWidth: 1, FillOpacity: 10, ShowPoints: "never", Stacking: Stack{Mode: "none", Group: "A"},
		}}},
		Options: Graph{
			Legend:  Legend{Calcs: []string{"lastNotNull", "max"}, DisplayMode: "table", Placement: "bottom", ShowLegend: true},
			Tooltip: Tooltip{Mode: "multi", Sort: "desc"},
		},
	}
}

// signed lets a graph show values below 0.
func signed(p Panel) Panel {
	p.FieldConfig.Defaults.Min = nil
	return p
}

// traced lets a graph show exemplars.
func traced(p Panel) Panel {
	for i := range p.Targets {
		p.Targets[i].Exemplar = true
	}
	return p
}

// stat is one number. warn and alarm are from where it is orange and red; the same for both is red alone.
func stat(title, unit, description, expr string, warn, alarm float64) Panel {
	steps := []Step{{Color: "green"}, {Value: &warn, Color: "orange"}, {Value: &alarm, Color: "red"}}
	if warn == alarm {
		steps = []Step{{Color: "green"}, {Value: &alarm, Color: "red"}}
	}
	return number(title, unit, description, expr, steps)
}

// atLeast is one number that is red below a bound.
func atLeast(title, description, expr string, least float64) Panel {
	return number(title, "short", description, expr, []Step{{Color: "red"}, {Value: &least, Color: "green"}})
}

// plain is one number without colors.
func plain(title, unit, description, expr string) Panel {
	return number(title, unit, description, expr, []Step{{Color: "text"}})
}

func number(title, unit, description, expr string, steps []Step) Panel {
	return Panel{
		Type: "stat", Title: title, Description: description, GridPos: Grid{H: 4, W: 3}, Datasource: source(),
		Targets: targets(true, "", []q{{expr: expr}}),
		FieldConfig: &FieldConfig{Overrides: []any{}, Defaults: Field{
			Unit: unit, NoValue: "–", Thresholds: &Thresholds{Mode: "absolute", Steps: steps},
		}},
		Options: Stat{
			ColorMode: "value", GraphMode: "none", JustifyMode: "auto", TextMode: "auto", Orientation: "auto",
			PercentChangeColorMode: "standard", WideLayout: true, ReduceOptions: Reduce{Calcs: []string{"lastNotNull"}},
		},
	}
}

// table shows the labels of a query, and its value.
func table(title, unit, description string, width int, expr string) Panel {
	return Panel{
		Type: "table", Title: title, Description: description, GridPos: Grid{H: 8, W: width}, Datasource: source(),
		Targets:     targets(true, "table", []q{{expr: expr}}),
		FieldConfig: &FieldConfig{Overrides: []any{}, Defaults: Field{Unit: unit}},
		Options:     Table{ShowHeader: true, CellHeight: "sm"},
		Transformations: []Transformation{{
			ID: "organize", Options: map[string]any{"excludeByName": map[string]bool{"Time": true}},
		}},
	}
}

// quantile is of a histogram that Prometheus has in the native form or, from a scrape without it, in buckets.
func quantile(of float64, name, where string, by ...string) string {
	native, classic := "", "le"
	if len(by) > 0 {
		native = "by (" + strings.Join(by, ", ") + ") "
		classic += ", " + strings.Join(by, ", ")
	}
	return fmt.Sprintf("histogram_quantile(%[1]g, sum %[2]s(rate(%[3]s%[4]s[$__rate_interval]))) or "+
		"histogram_quantile(%[1]g, sum by (%[5]s) (rate(%[3]s_bucket%[4]s[$__rate_interval])))", of, native, name, where,
		classic)
}

// buckets is a quantile of a histogram that has buckets alone.
func buckets(of float64, name, where string, by ...string) string {
	return fmt.Sprintf("histogram_quantile(%g, sum by (%s) (rate(%s_bucket%s[$__rate_interval])))", of,
		strings.Join(append([]string{"le"}, by...), ", "), name, where)
}

// perSecond is the rate of a counter, summed by labels.
func perSecond(name, where string, by ...string) string {
	return "sum by (" + strings.Join(by, ", ") + ") (rate(" + name + where + "[$__rate_interval]))"
}
