package architecture

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Rulebook is where the rules of the engine and the invariants stand.
const Rulebook = "docs/rules.md"

// engineFolder holds the packages whose comments name the rulebook.
const engineFolder = "application/manager/engine"

var (
	ruleTitle = regexp.MustCompile(`^### (?:Rule (\d+)|(I\d+)): (.+)`)
	part      = regexp.MustCompile(`^- \*\*(Prevents|Enforced|Tests):\*\* (.+)`)
	// place is a path, and what it declares in parentheses.
	place = regexp.MustCompile("`([^`]+)`(?: \\(((?:`[^`]+`(?:, )?)+)\\))?")

	citedRule  = regexp.MustCompile(`(?i)\b(rules?)(?:[\s/#]|--)+(\d+)((?:(?:[\s/#,–-]|--|\band\b)+\d+\b)*)`)
	citedClass = regexp.MustCompile(`\bI(\d{1,2})\b`)
)

// rule is one section of the rulebook.
type rule struct {
	line int
	// later: the number is taken, for what the product does not have yet.
	later bool
	parts map[string]string
}

// readRules reads the rulebook by the names of its rules ("9", "I3") and finds
// what is missing or wrong in it.
func (b *library) readRules() (map[string]*rule, []Violation) {
	rules := map[string]*rule{}
	var found []Violation
	for _, d := range b.docs {
		if d.path != Rulebook {
			continue
		}
		var r *rule
		label := ""
		for i, line := range d.lines {
			if heading.MatchString(line) {
				r, label = nil, ""
				if m := ruleTitle.FindStringSubmatch(line); m != nil {
					name := m[1] + m[2]
					if rules[name] != nil {
						found = append(found, d.violation(i, "rule %s is there twice", name))
					}
					r = &rule{line: i, later: strings.HasSuffix(line, "(not built yet)"), parts: map[string]string{}}
					rules[name] = r
				}
				continue
			}
			if r == nil {
				continue
			}
			if m := part.FindStringSubmatch(line); m != nil {
				label = m[1]
				r.parts[label] = m[2]
			} else if strings.HasPrefix(line, "  ") && label != "" {
				r.parts[label] += " " + strings.TrimSpace(line)
			} else {
				label = ""
			}
		}
		for name, r := range rules {
			found = append(found, b.incomplete(d, name, r)...)
		}
	}
	for n := 1; n <= len(rules); n++ {
		if rules[strconv.Itoa(n)] == nil && rules[strconv.Itoa(n+1)] != nil {
			found = append(found, Violation{Where: Rulebook, What: fmt.Sprintf("rule %d is missing", n)})
		}
	}
	return rules, found
}

// incomplete finds what a rule lacks: the failure that it prevents, a place
// that enforces it, a test that fails without it.
func (b *library) incomplete(d *document, name string, r *rule) []Violation {
	var found []Violation
	if r.later {
		return nil
	}
	for _, label := range []string{"Prevents", "Enforced", "Tests"} {
		if r.parts[label] == "" {
			found = append(found, d.violation(r.line, "rule %s has no line **%s:**", name, label))
		}
	}
	places := place.FindAllStringSubmatch(r.parts["Enforced"], -1)
	if r.parts["Enforced"] != "" && len(places) == 0 {
		found = append(found, d.violation(r.line, "rule %s names no path that enforces it", name))
	}
	for _, m := range places {
		if !b.paths[m[1]] {
			found = append(found, d.violation(r.line, "rule %s: %s does not exist (give the whole path)", name, m[1]))
			continue
		}
		for _, of := range inCode.FindAllStringSubmatch(m[2], -1) {
			if !b.declared[m[1]][of[1]] {
				found = append(found, d.violation(r.line, "rule %s: %s declares no %s", name, m[1], of[1]))
			}
		}
	}
	tests := inCode.FindAllStringSubmatch(r.parts["Tests"], -1)
	if r.parts["Tests"] != "" && len(tests) == 0 {
		found = append(found, d.violation(r.line, "rule %s names no test", name))
	}
	for _, m := range tests {
		if !someTest.MatchString(m[1]) || !b.names[m[1]] {
			found = append(found, d.violation(r.line, "rule %s: there is no test %s", name, m[1]))
		}
	}
	return found
}

// citations finds rules that are cited and do not exist, and packages of the
// engine that do not say where the rules are.
func (b *library) citations(rules map[string]*rule) []Violation {
	var found []Violation
	cites := func(where, text string, program bool) {
		see := func(at int, name string) {
			at = strings.Count(text[:at], "\n") + 1
			switch r := rules[name]; {
			case r == nil:
				found = append(found,
					Violation{fmt.Sprintf("%s:%d", where, at), fmt.Sprintf("cites rule %s, which %s does not have", name, Rulebook)})
			case r.later && program:
				found = append(found,
					Violation{fmt.Sprintf("%s:%d", where, at), fmt.Sprintf("cites rule %s, which %s calls not built yet", name,
						Rulebook)})
			}
		}
		for _, m := range citedRule.FindAllStringSubmatchIndex(text, -1) {
			see(m[4], text[m[4]:m[5]])
			if text[m[3]-1]|0x20 == 's' { // of one rule the next number is something else
				for _, n := range span(text[m[4]:m[7]]) {
					see(m[4], strconv.Itoa(n))
				}
			}
		}
		for _, m := range citedClass.FindAllStringSubmatchIndex(text, -1) {
			see(m[0], text[m[0]:m[1]])
		}
	}
	for _, name := range b.cited {
		if text, err := fs.ReadFile(b.root, name); err != nil {
			found = append(found, Violation{name, err.Error()})
		} else if path.Dir(name) != "test/architecture" { // its tests cite what does not exist
			cites(name, string(text), true)
		}
	}
	for _, d := range b.docs {
		cites(d.path, strings.Join(d.lines, "\n"), false)
	}
	return append(found, b.silentPackages()...)
}

// span is the numbers of a list such as "3, 5 and 7–9", the first one left out.
func span(list string) []int {
	var out []int
	to := false
	last := 0
	for i, text := range regexp.MustCompile(`\d+|–`).FindAllString(list, -1) {
		if text == "–" {
			to = true
			continue
		}
		n, _ := strconv.Atoi(text) // of digits alone
		for k := last + 1; to && k < n; k++ {
			out = append(out, k)
		}
		if i > 0 {
			out = append(out, n)
		}
		last, to = n, false
	}
	return out
}

// silentPackages finds packages of the engine whose comment does not name the
// rulebook.
func (b *library) silentPackages() []Violation {
	says := map[string]bool{}
	for _, f := range b.files {
		if dir := f.dir(); path.Dir(dir) == engineFolder && !f.isTest() {
			says[dir] = says[dir] || strings.Contains(f.syntax.Doc.Text(), Rulebook)
		}
	}
	var found []Violation
	for dir, ok := range says {
		if !ok {
			found = append(found, Violation{Where: dir, What: "the package comment does not name " + Rulebook})
		}
	}
	return found
}
