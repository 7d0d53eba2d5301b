package expression

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Decode parses a JSON object for the languages of automations. A 64-bit integer becomes an int64, any other
// number a float64.
func Decode(document []byte) (map[string]any, error) {
	object, err := decodeObject(document)
	if err != nil {
		return nil, err
	}
	out, _ := Value(object).(map[string]any)
	return out, nil
}

// DecodeExact is like Decode, for data from a caller. It rejects numbers that Decode would change; the error
// names the first of them.
func DecodeExact(document []byte) (map[string]any, error) {
	object, err := decodeObject(document)
	if err != nil {
		return nil, err
	}
	if err := checkNumbers(object, ""); err != nil {
		return nil, err
	}
	out, _ := Value(object).(map[string]any)
	return out, nil
}

// NumberError reports a number that neither an int64 nor a float64 can hold.
type NumberError struct{ Path, Number string }

// Error returns a message that is written to follow the name of the field.
func (e *NumberError) Error() string {
	return fmt.Sprintf("has the number %s at %s, which a 64-bit number cannot hold exactly; send it as a string",
		e.Number, e.Path)
}

// checkNumbers returns a NumberError for the first number, in path order, that would change.
func checkNumbers(v any, path string) error {
	switch v := v.(type) {
	case json.Number:
		if !isExact(v.String()) {
			return &NumberError{strings.TrimPrefix(path, "."), shortenNumber(v.String())}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := checkNumbers(v[name], path+"."+name); err != nil {
				return err
			}
		}
	case []any:
		for i, element := range v {
			if err := checkNumbers(element, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxDigits is the number of significant digits that identify a float64.
const maxDigits = 17

// isExact reports whether an int64 or a float64 holds a JSON number exactly: it is in range and loses no
// digits.
func isExact(number string) bool {
	if _, err := strconv.ParseInt(number, 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	digits := strings.Trim(strings.ReplaceAll(mantissa, ".", ""), "0")
	if digits == "" || len(digits) > maxDigits {
		return digits == ""
	}
	kept, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'e', len(digits)-1, 64), "e")
	return strings.ReplaceAll(kept, ".", "") == digits
}

func shortenNumber(number string) string {
	if len(number) > 40 {
		return number[:40] + "…"
	}
	return number
}

func decodeObject(document []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON object")
	}
	return object, nil
}

// Value converts the numbers of decoded JSON to the types that Decode returns. It changes objects and arrays in
// place.
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

// DecodeAny is like Decode, for any JSON value.
func DecodeAny(document []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return Value(value), nil
}
