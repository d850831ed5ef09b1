package architecture

import (
	"net/url"
	"path"
	"regexp"
	"strings"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// links calls see for each link of the document to something in the tree.
func (d *document) links(see func(line int, target, anchor string)) {
	for i, line := range d.lines {
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			u, err := url.Parse(m[1])
			if err != nil || u.Scheme != "" || strings.HasPrefix(m[1], "/") {
				continue
			}
			target := d.path
			if u.Path != "" {
				target = path.Join(path.Dir(d.path), u.Path)
			}
			see(i, target, u.Fragment)
		}
	}
}

// brokenLinks finds links of a document that lead nowhere.
func (b *library) brokenLinks(d *document) []Violation {
	var found []Violation
	d.links(func(line int, target, anchor string) {
		if !b.paths[target] {
			found = append(found, d.violation(line, "the link leads to %s, which does not exist", target))
			return
		}
		if anchor == "" {
			return
		}
		for _, other := range b.docs {
			if other.path == target && !other.anchors[anchor] {
				found = append(found, d.violation(line, "%s has no heading for #%s", target, anchor))
			}
		}
	})
	return found
}

// unlinked finds documents below docs that no other document links. A link to
// a folder is one to each document in it.
func (b *library) unlinked() []Violation {
	seen := map[string]bool{}
	for _, d := range b.docs {
		d.links(func(_ int, target, _ string) {
			if target != d.path {
				seen[target] = true
			}
		})
	}
	var found []Violation
	for _, d := range b.docs {
		if below(path.Dir(d.path), "docs") && !seen[d.path] && !seen[path.Dir(d.path)] {
			found = append(found, Violation{Where: d.path, What: "no other document links it: add it to the table of README.md"})
		}
	}
	return found
}
