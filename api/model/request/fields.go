package request

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// readBody reads the body of a call into the struct that documents it, and lets
// check, which may be nil, look at what was read. The error names all that is
// wrong at once.
//
// The tags of the struct say how. json names a field, and default is its value where it
// is absent or null. A readonly field is taken and not looked at. A pointer is nil where a
// field was not given, whatever its default. Of two fields with one name, of which one is in
// an embedded struct, the first is read.
func readBody[T any](r *http.Request, check func(body *T, f *faults)) (body T, err error) {
	o, err := parse(r, false)
	if err != nil {
		return body, err
	}
	return readObject(o, check)
}

// readAnyBody is readBody where the body may be empty.
func readAnyBody[T any](r *http.Request, check func(body *T, f *faults)) (body T, err error) {
	o, err := parse(r, true)
	if err != nil {
		return body, err
	}
	return readObject(o, check)
}

func readObject[T any](o *object, check func(body *T, f *faults)) (T, error) {
	f := &faults{}
	body := bind[T](newBinder(o, f))
	if check != nil {
		check(&body, f)
	}
	return body, apperror.Invalid(f.list)
}

// bind reads a whole object into a struct, and closes the binder.
func bind[T any](b *binder) T {
	body := atDefaults[T]()
	b.places, b.base = placesOf(reflect.TypeFor[T]()), b.path
	b.into(reflect.ValueOf(&body).Elem())
	b.close()
	return body
}

// atDefaults is a struct of which no field was given.
func atDefaults[T any]() (body T) {
	setDefaults(reflect.ValueOf(&body).Elem())
	return body
}

// into reads the fields of the object into those of a struct.
func (b *binder) into(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			b.into(v.Field(i))
		case name == "-" || b.taken[name]:
		case field.Tag.Get("readonly") == "true":
			b.ignore(name)
		case b.field(name, v.Field(i)):
			b.chosen(name, field.Tag, v.Field(i))
		}
	}
}

// chosen refuses an empty text where one of a list of words belongs, or a name. Its sender forgot to fill it in; what
// acts on a default that nobody chose would hide that.
func (b *binder) chosen(name string, tag reflect.StructTag, v reflect.Value) {
	if v.Kind() != reflect.String || v.String() != "" {
		return
	}
	words, listed := tag.Lookup("enums")
	if !listed {
		if tag.Get("minLength") == "1" {
			b.faults.add(join(b.path, name), "invalid", "must not be an empty text: give a name, or leave the field out")
		}
		return
	}
	remedy := ""
	if otherwise, optional := tag.Lookup("default"); optional {
		remedy = ", or left out for " + otherwise
	}
	b.faults.add(join(b.path, name), "unknown_value", "must be one of %s%s", strings.ReplaceAll(words, ",", ", "), remedy)
}

// field reads one field; ok is false where it is absent or wrong.
func (b *binder) field(name string, v reflect.Value) (ok bool) {
	switch dst := v.Addr().Interface().(type) {
	case fieldReader:
		return dst.readFrom(b, name)
	case *time.Time:
		return set(dst)(b.time(name))
	case *DataForms:
		return set(&dst.text)(b.raw(name))
	case *rawObject:
		return set((*string)(dst))(b.raw(name))
	case *json.RawMessage:
		return setWith(func(text string) { *dst = json.RawMessage(text) })(b.raw(name))
	case *rawValue:
		return set((*string)(dst))(b.scalar(name))
	}
	switch v.Kind() {
	case reflect.String:
		return setWith(v.SetString)(typed[string](b, name, "a string"))
	case reflect.Int, reflect.Int64:
		return setWith(v.SetInt)(b.integer(name, v.Type().Bits()))
	case reflect.Float64:
		return setWith(v.SetFloat)(b.float(name))
	case reflect.Bool:
		return setWith(v.SetBool)(typed[bool](b, name, "true or false"))
	case reflect.Struct:
		return b.nested(name, func(b *binder) { b.into(v) })
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		setDefaults(to.Elem())
		if ok = b.field(name, to.Elem()); ok {
			v.Set(to)
		}
		return ok
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			return b.objects(name, v)
		}
		if v.Type().Elem().Kind() == reflect.Int {
			return b.integers(name, v)
		}
		items, ok := b.strings(name)
		if ok {
			v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
			for i, item := range items {
				v.Index(i).SetString(item)
			}
		}
		return ok
	case reflect.Map:
		values, ok := b.labels(name)
		if ok {
			v.Set(reflect.MakeMapWithSize(v.Type(), len(values)))
			for key, value := range values {
				v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value).Convert(v.Type().Elem()))
			}
		}
		return ok
	}
	//nolint:forbidigo // a struct of this package is wrong: its tests meet that
	panic(fmt.Sprintf("request: a body cannot hold the field %q of type %s", name, v.Type()))
}

// fieldReader is a field that has more than one form, and reads itself.
type fieldReader interface {
	readFrom(b *binder, name string) (ok bool)
}

// integers reads an array of whole numbers.
func (b *binder) integers(name string, v reflect.Value) (ok bool) {
	items, ok := typed[[]any](b, name, "an array of whole numbers")
	for i, item := range items {
		field := name + "[" + strconv.Itoa(i) + "]"
		one := &binder{path: b.path, object: &object{fields: map[string]any{field: item}}, taken: b.taken, faults: b.faults}
		if n, whole := one.integer(field, v.Type().Elem().Bits()); whole {
			v.Set(reflect.Append(v, reflect.ValueOf(int(n))))
		}
	}
	return ok
}

// objects reads an array of objects into a slice of structs.
func (b *binder) objects(name string, v reflect.Value) (ok bool) {
	if short, is := reflect.Zero(v.Type().Elem()).Interface().(shorthand); is {
		b.expand(name, short.shortFor())
	}
	b.each(name, func(_ int, item *binder) bool {
		one := reflect.New(v.Type().Elem()).Elem()
		setDefaults(one)
		item.into(one)
		item.close()
		v.Set(reflect.Append(v, one))
		for _, f := range item.faults.list {
			b.faults.add(f.Field, f.Code, "%s", f.Message)
		}
		ok = true
		return len(b.faults.list) < maxFaults
	})
	return ok
}

// shorthand is an object of a list that a plain string may stand for.
type shorthand interface {
	// shortFor is the field that the string is.
	shortFor() string
}

// expand puts objects in the place of the plain strings of a list.
func (b *binder) expand(name, field string) {
	items, _ := b.object.fields[name].([]any)
	for i, item := range items {
		if text, is := item.(string); is {
			items[i] = &object{names: []string{field}, fields: map[string]any{field: text}}
		}
	}
}

// set and setWith put a value where it belongs, if there is one.
func set[T any](dst *T) func(T, bool) bool { return setWith(func(value T) { *dst = value }) }

func setWith[T any](put func(T)) func(T, bool) bool {
	return func(value T, ok bool) bool {
		if ok {
			put(value)
		}
		return ok
	}
}

// setDefaults fills in the defaults that the tags name.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[DataForms]() {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		text, named := field.Tag.Lookup("default")
		switch {
		case field.IsExported() && v.Field(i).Kind() == reflect.Struct:
			setDefaults(v.Field(i))
		case named:
			if err := setText(v.Field(i), text); err != nil {
				//nolint:forbidigo // a tag of this package is wrong: its tests meet that
				panic(fmt.Sprintf("request: the default of %s.%s: %s", v.Type(), field.Name, err))
			}
		}
	}
}

func setText(v reflect.Value, text string) (err error) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		var i int64
		i, err = strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(i)
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v.SetFloat(f)
	case reflect.Bool:
		var is bool
		is, err = strconv.ParseBool(text)
		v.SetBool(is)
	case reflect.Pointer: // nil says that it was not given
	default:
		err = fmt.Errorf("%s has none", v.Type())
	}
	return err
}
