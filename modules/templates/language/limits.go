package language

import "time"

// The limits of a template's sources and variables, and of a render.
const (
	MaxSource    = 1 << 20 // bytes, for html and text each
	MaxVariables = 100
	MaxKey       = 100 // characters of a variable's key
	MaxKeyParts  = 5
	MaxList      = 1_000 // items of a list value
	MaxObject    = 200   // fields of an object value
	MaxValues    = 50_000
	MaxRender    = 1 << 20         // bytes, for rendered html and rendered text each
	RenderTime   = 2 * time.Second // for all parts of one template

	maxTags         = 5_000   // {{ }} and {% %} tags in one source
	maxExpression   = 1_000   // bytes in one tag
	maxNesting      = 30      // nested blocks
	maxLoops        = 2       // nested for loops
	maxText         = 256_000 // bytes that a filter may produce
	maxDeclarations = 64 << 10
	maxDepth        = 16 // depth of a value
)
