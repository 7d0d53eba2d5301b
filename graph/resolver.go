package graph

import (
	"net/http"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Resolver is the root of the resolvers. The resolvers of a type are in the *.resolvers.go file named after
// its SDL file, conversions in the file of the same name without that suffix.
type Resolver struct {
	parts Parts
	on    []string // the modules that are on
	rest  http.Handler
}

// noneIfMissing converts a not-found error to null, as nullable root fields report it.
func noneIfMissing[T any](found *T, err error) (*T, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return found, err
}

// nilIfEmpty returns nil for an empty string.
func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
