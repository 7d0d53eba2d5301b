package graph

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
)

// Part is what one module gives to the schema: the service behind its fields.
type Part struct {
	module string
	kind   reflect.Type // the interface under which resolvers look for the service
	serves any
}

// Show makes the part of a module. I is the interface that its resolvers ask for.
func Show[I any](module string, service I) Part {
	return Part{module: module, kind: reflect.TypeFor[I](), serves: service}
}

// parts finds services by their interface. Those of modules that are off are missing.
type parts map[reflect.Type]any

// part gives the service of a kind, or nil where its module is off.
func part[I any](of parts) I {
	found, _ := of[reflect.TypeFor[I]()].(I)
	return found
}

// missingParts lists the modules that are on and have fields in the schema, and no part.
func missingParts(served *ast.Schema, on []string, given []Part) (missing []error) {
	have := map[string]bool{}
	for _, p := range given {
		have[p.module] = true
	}
	for _, module := range schema.Modules(served) {
		if slices.Contains(on, module) && !have[module] {
			missing = append(missing, fmt.Errorf("graph: module %s is on and has fields in the schema, but no part serves them", module))
		}
	}
	return missing
}
