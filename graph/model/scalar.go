package model

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/postrider/postrider/runtime/base/fault"
)

// timeLayout is RFC 3339 with milliseconds, as everywhere in the API.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalDateTime writes the scalar DateTime, in UTC.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		graphql.MarshalString(t.UTC().Format(timeLayout)).MarshalGQL(w)
	})
}

// UnmarshalDateTime reads the scalar DateTime, with any offset and precision.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, isText := v.(string)
	t, err := time.Parse(time.RFC3339Nano, text)
	if !isText || err != nil {
		return time.Time{}, fault.Invalidf("A DateTime must be an RFC 3339 string such as 2026-01-15T09:30:00Z")
	}
	return t.UTC(), nil
}

// MarshalJSON writes the scalar JSON: the value unchanged.
func MarshalJSON(v json.RawMessage) graphql.Marshaler {
	if len(v) == 0 {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { graphql.MarshalAny(v).MarshalGQL(w) })
}

// UnmarshalJSON reads the scalar JSON.
func UnmarshalJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

// MarshalInt writes the scalar Int.
func MarshalInt(i int) graphql.Marshaler { return graphql.MarshalInt(i) }

// UnmarshalInt reads the scalar Int. GraphQL's is a signed 32-bit integer; a number beyond it is the caller's
// mistake, and the error says so, unlike gqlgen's own.
func UnmarshalInt(v any) (int, error) {
	var n int64
	var err error
	switch v := v.(type) {
	case int64:
		n = v
	case int:
		n = int64(v)
	case json.Number:
		n, err = strconv.ParseInt(v.String(), 10, 64)
	default:
		err = fmt.Errorf("%T is not a number", v)
	}
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return 0, fault.Invalidf("An Int must be a whole number of at most 32 bits")
	}
	return int(n), nil
}

// MarshalWhole writes a Float that is always a whole number, but can exceed a GraphQL Int.
func MarshalWhole(n int) graphql.Marshaler { return graphql.MarshalFloat(float64(n)) }

// MarshalWhole64 is MarshalWhole for counters of the database.
func MarshalWhole64(n int64) graphql.Marshaler { return MarshalWhole(int(n)) }

// UnmarshalWhole64 is UnmarshalWhole for counters of the database.
func UnmarshalWhole64(v any) (int64, error) {
	n, err := UnmarshalWhole(v)
	return int64(n), err
}

// UnmarshalWhole reads a Float that must be a whole number.
func UnmarshalWhole(v any) (int, error) {
	f, err := graphql.UnmarshalFloat(v)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fault.Invalidf("must be a whole number")
	}
	return int(f), nil
}
