package index

import (
	"maps"
	"reflect"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Overlay copies every non-zero field of src over dst, so that a later statement completes an earlier one.
// Attributes are merged.
func Overlay[T any](dst, src *T) {
	d, s := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	for i := range s.NumField() {
		field := s.Field(i)
		if field.IsZero() {
			continue
		}
		if attributes, ok := field.Interface().(transcript.Attributes); ok && !d.Field(i).IsZero() {
			joined := maps.Clone(d.Field(i).Interface().(transcript.Attributes))
			maps.Copy(joined, attributes)
			d.Field(i).Set(reflect.ValueOf(joined))
			continue
		}
		d.Field(i).Set(field)
	}
}
