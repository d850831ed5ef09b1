package openapi_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
)

// split makes two schemas of each struct that bodies and answers share, by its name in answers. Answers have all
// fields. The bounds are those of bodies, and so is what may be left out.
func split(doc *openapi2.T, shared map[string]string) error {
	var ofBodies, ofAnswers []string
	for was, name := range shared {
		body := map[string]string{"RuleScope": "ScopeBody", "RuleAction": "ActionBody"}[name]
		if body == "" {
			body = name + "Body"
		}
		ofBodies = append(ofBodies, "/"+was+"\"", "/"+body+"\"")
		ofAnswers = append(ofAnswers, "/"+was+"\"", "/"+name+"\"")
	}
	toBodies, toAnswers := strings.NewReplacer(ofBodies...), strings.NewReplacer(ofAnswers...)
	for was, name := range shared {
		body := strings.Trim(toBodies.Replace("/"+was+"\""), "/\"")
		if doc.Definitions[body] == nil {
			of := &openapi2.SchemaRef{}
			if err := copied(doc.Definitions[was], of, toBodies); err != nil {
				return err
			}
			ownEnumerations(doc, of.Value)
			doc.Definitions[body] = of
		}
		of := &openapi2.SchemaRef{}
		if err := copied(doc.Definitions[was], of, toAnswers); err != nil {
			return err
		}
		answered(of.Value)
		delete(doc.Definitions, was)
		doc.Definitions[name] = of
	}
	// A silence gets a name where it has none.
	doc.Definitions["SilenceBody"].Value.Required = []string{"match", "to"}
	for name, of := range doc.Definitions {
		if strings.HasSuffix(name, "Body") {
			renamed := &openapi2.SchemaRef{}
			if err := copied(of, renamed, toBodies); err != nil {
				return err
			}
			doc.Definitions[name] = renamed
		}
	}
	for _, op := range operations(doc) {
		for _, p := range op.Parameters {
			if p.In == "body" {
				p.Schema.Ref = strings.TrimSuffix(toBodies.Replace(p.Schema.Ref+"\""), "\"")
			}
		}
	}
	return nil
}

// ownEnumerations writes the values of enumerations out: a field of a body may be null as well, which the type that
// answers have is not.
func ownEnumerations(doc *openapi2.T, s *openapi2.Schema) {
	for name, p := range s.Properties {
		of, field := p.Ref, &openapi2.Schema{}
		if p.Value != nil {
			field = p.Value
		}
		if len(field.AllOf) == 1 {
			of = field.AllOf[0].Ref
		}
		enumeration := doc.Definitions[refName(of)]
		if enumeration == nil || len(enumeration.Value.Enum) == 0 {
			continue
		}
		field.AllOf, field.Type, field.Enum = nil, enumeration.Value.Type, enumeration.Value.Enum
		s.Properties[name] = &openapi2.SchemaRef{Value: field}
	}
}

// answered says of a schema what holds for answers: each field is there, but the warnings of lists.
func answered(s *openapi2.Schema) {
	s.Required = slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(name string) bool {
		return name == "warnings"
	})
	for name, p := range s.Properties {
		switch field := p.Value; {
		case field == nil:
		case len(field.AllOf) == 1:
			s.Properties[name] = field.AllOf[0]
		default:
			field.Min, field.Max, field.MaxLength, field.MaxItems = nil, nil, nil, nil
			field.Default, field.Example, field.ReadOnly = nil, nil, false
		}
	}
}
