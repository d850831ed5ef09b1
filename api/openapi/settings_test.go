package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
)

// rulesPath is that of the kind whose operations are annotated.
const rulesPath = "/api/v1/alert-rules"

// completeSettings makes the operations of all kinds of what people define for alerting. The
// annotations of a kind document its POST: beside the example they have x-replace, the example of
// PUT, x-plural, which names the list, and x-conflict, which says why one cannot be deleted.
func completeSettings(doc *openapi2.T) error {
	rules, rule := doc.Paths[rulesPath], doc.Paths[rulesPath+"/{id}"]
	shared := map[string]string{"alert.Scope": "RuleScope", "RuleAction": "RuleAction", "Shift": "Shift"}
	for path, kind := range doc.Paths {
		if kind.Post == nil || kind.Post.Extensions["x-plural"] == nil {
			continue
		}
		post := kind.Post
		article, noun, _ := strings.Cut(strings.TrimPrefix(post.Summary, "Make "), " ")
		name := refName(post.Responses.Value("201").Schema.Ref)
		of := strings.NewReplacer(
			"the rules", fmt.Sprint("the ", post.Extensions["x-plural"]), "an alert rule", article+" "+noun, "alert rule", noun,
			"it is a rule of the first start, which can be switched off", fmt.Sprint(post.Extensions["x-conflict"]),
			"/RulePage\"", "/"+name+"Page\"", "/Rule\"", "/"+name+"\"")
		shared[name] = name
		if path != rulesPath {
			var made [5]openapi2.Operation
			for i, op := range []*openapi2.Operation{rules.Get, rule.Get, rule.Put, rule.Delete, rules.Post} {
				if err := copied(op, &made[i], of); err != nil {
					return err
				}
			}
			kind.Get = &made[0]
			doc.Paths[path+"/{id}"] = &openapi2.PathItem{Get: &made[1], Put: &made[2], Delete: &made[3]}
			page := &openapi2.SchemaRef{}
			if err := copied(doc.Definitions["RulePage"], page, of); err != nil {
				return err
			}
			doc.Definitions[name+"Page"] = page
			if post.Responses.Value("409") == nil {
				post.Responses.Set("409", made[4].Responses.Value("409"))
			}
		}
		setExample(doc.Paths[path+"/{id}"].Put, post.Extensions["x-replace"])
	}
	for _, kind := range doc.Paths {
		if kind.Post != nil {
			for _, name := range []string{"x-replace", "x-plural", "x-conflict"} {
				delete(kind.Post.Extensions, name)
			}
		}
	}
	return split(doc, shared)
}

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

func setExample(op *openapi2.Operation, example any) {
	if op.Extensions == nil {
		op.Extensions = map[string]any{}
	}
	op.Extensions["x-example"] = example
}

// copied makes a copy of a part of the document with other words.
func copied[T any](from, to *T, words *strings.Replacer) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(words.Replace(string(text))), to)
}
