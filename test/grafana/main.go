// Command grafana writes the dashboards of configs/grafana/dashboards. They are built here, and not by hand in
// Grafana, so that a test can read every expression in them.
//
//go:generate go run . -out ../../configs/grafana/dashboards
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "configs/grafana/dashboards", "the folder to write to")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write makes each dashboard a file, named as its uid.
func write(folder string) error {
	files, err := files()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil { //nolint:gosec // no secrets
			return fmt.Errorf("write the dashboard: %w", err)
		}
	}
	return nil
}

// files are the dashboards as JSON, by file name.
func files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, d := range dashboards() {
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", d.UID, err)
		}
		out[d.UID+".json"] = append(text, '\n')
	}
	return out, nil
}

// dashboards are all that is shipped.
func dashboards() []Dashboard {
	return []Dashboard{overview(), jobs(), nodes(), engine(), alerts()}
}
