// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import "reflect"

// checkRequired returns an error when a field with the tag fastjson:"required"
// is nil anywhere in v. path names v in that error, by Go's field names and
// without keys of the body.
func checkRequired(v reflect.Value, path string) error {
	if !declaresRequired(v.Type(), nil) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkRequired(v.Elem(), path)
		}
	case reflect.Struct:
		return checkFields(v, path)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := checkRequired(it.Value(), path+"[]"); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkRequired(v.Index(i), path+"[]"); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFields(v reflect.Value, path string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name := f.Name
		if path != "" {
			name = path + "." + name
		}
		if isRequired(f) {
			switch v.Field(i).Kind() {
			case reflect.Pointer, reflect.Map, reflect.Slice:
				if v.Field(i).IsNil() {
					return failf("member %s is missing", name)
				}
			default:
				return failf("member %s cannot be required: its type cannot say that it is missing", name)
			}
		}
		if err := checkRequired(v.Field(i), name); err != nil {
			return err
		}
	}
	return nil
}

func isRequired(f reflect.StructField) bool { return f.Tag.Get("fastjson") == "required" }

// declaresRequired reports whether a required field can be reached from t, so
// that large tables without one are not walked.
func declaresRequired(t reflect.Type, seen []reflect.Type) bool {
	for _, s := range seen {
		if s == t {
			return false
		}
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array:
		return declaresRequired(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && (isRequired(f) || declaresRequired(f.Type, seen)) {
				return true
			}
		}
	}
	return false
}
