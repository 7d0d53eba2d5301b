package graph

import (
	"github.com/postrider/postrider/runtime/base/fault"
)

// Resolver is the root of the resolvers. The resolvers of a type stand in the
// *.resolvers.go file named like its SDL, conversions in the file beside it.
type Resolver struct {
	parts Parts
	on    []string // the modules that are on
}

// noneIfMissing turns "no such thing" into null, which is what a nullable root
// field says it with.
func noneIfMissing[T any](found *T, err error) (*T, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return found, err
}

// filled is null for what is stored as an empty string.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
