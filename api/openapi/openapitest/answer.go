package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
)

// Call is a call and its answer.
type Call struct {
	// Method and Path are as sent, without the query.
	Method, Path string
	// Body is what was sent.
	Body   []byte
	Status int
	Header http.Header
	Answer []byte
}

// Check returns what of the answer the document does not say; nil is nothing.
// An accepted body must also fit the document.
func (d *Document) Check(c Call) error {
	op, known := d.Find(c.Method, c.Path)
	if !known {
		return d.checkUnknown(c)
	}
	response := op.Responses.Value(strconv.Itoa(c.Status))
	if response == nil && c.Status == http.StatusInternalServerError { // a bug, which has no place in the document
		return d.checkProblem(c)
	}
	where := c.Method + " " + op.Path
	if response == nil {
		return fmt.Errorf("%s answers %d, which is not documented: annotate its action and run make docs: %s", where,
			c.Status, c.Answer)
	}
	if err := d.checkContent(c, response.Value.Content); err != nil {
		return fmt.Errorf("%s, status %d: %w", where, c.Status, err)
	}
	if c.Status < 300 && len(c.Body) > 0 && op.RequestBody != nil {
		content := op.RequestBody.Value.Content
		if content["application/yaml"] != nil && !json.Valid(c.Body) {
			return nil // other notations are read by tests of their own
		}
		schema := content[JSON].Schema.Value
		if err := visit(schema, c.Body, dropIgnored); err != nil {
			return fmt.Errorf("%s accepted a body that is not documented so: %w: %s", where, err, c.Body)
		}
	}
	return nil
}

// checkUnknown is for addresses that the document does not know.
func (d *Document) checkUnknown(c Call) error {
	if !Documented(c.Path) && c.Status < 300 {
		return nil
	}
	if !slices.Contains([]int{404, 405, 413}, c.Status) {
		return fmt.Errorf("%s %s answers %d, but no operation is documented there: annotate its action and run make docs",
			c.Method, c.Path, c.Status)
	}
	return d.checkProblem(c)
}

func (d *Document) checkProblem(c Call) error {
	return d.checkContent(c, d.doc.Components.Responses["Problem404"].Value.Content)
}

func (d *Document) checkContent(c Call, documented openapi3.Content) error {
	if len(documented) == 0 || c.Method == http.MethodHead {
		if len(c.Answer) > 0 && c.Method != http.MethodHead {
			return fmt.Errorf("a body, where none is documented: %s", c.Answer)
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("the Content-Type %q: %w", c.Header.Get("Content-Type"), err)
	}
	content := documented[mediaType]
	if content == nil {
		return fmt.Errorf("the Content-Type %s is not documented", mediaType)
	}
	if mediaType != JSON && mediaType != problem.ContentType {
		return nil
	}
	if err := visit(content.Schema.Value, c.Answer, nil); err != nil {
		return fmt.Errorf("%w: %s", err, c.Answer)
	}
	return nil
}

// Variant is the one of several schemas that the discriminator chooses for an
// object; the schema itself where it has none, or the object names no variant.
func Variant(schema *openapi3.Schema, fields map[string]any) *openapi3.Schema {
	if schema.Discriminator == nil {
		return schema
	}
	name, _ := fields[schema.Discriminator.PropertyName].(string)
	for _, one := range schema.OneOf {
		if one.Ref == schema.Discriminator.Mapping[name].Ref && one.Ref != "" {
			return one.Value
		}
	}
	return schema
}

// dropIgnored leaves out what is accepted as it comes and not looked at: fields
// that only the server sets.
func dropIgnored(schema *openapi3.Schema, v any) {
	fields, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, part := range schema.AllOf {
		dropIgnored(part.Value, v)
	}
	schema = Variant(schema, fields)
	for name, p := range schema.Properties {
		if p.Value.ReadOnly {
			delete(fields, name)
		} else {
			dropIgnored(p.Value, fields[name])
		}
	}
}

// visit holds JSON to a schema, after trim has had it, if there is one.
func visit(schema *openapi3.Schema, raw []byte, trim func(*openapi3.Schema, any)) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if trim != nil {
		trim(schema, v)
	}
	return schema.VisitJSON(v, openapi3.MultiErrors(), openapi3.EnableFormatValidation(),
		openapi3.DisableReadOnlyValidation(), openapi3.DisableSchemaErrorDetails())
}
