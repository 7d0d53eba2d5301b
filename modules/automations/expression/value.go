package expression

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Decode parses a JSON object for the languages of automations: a 64-bit integer becomes an int64, any
// other number a float64.
func Decode(document []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON object")
	}
	out, _ := Value(object).(map[string]any)
	return out, nil
}

// Value converts the numbers of decoded JSON to those that Decode returns. It changes objects and arrays
// in place.
func Value(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case map[string]any:
		for name, member := range v {
			v[name] = Value(member)
		}
	case []any:
		for i, element := range v {
			v[i] = Value(element)
		}
	}
	return v
}

// DecodeAny is Decode for any JSON value.
func DecodeAny(document []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return Value(value), nil
}
