package language

import "time"

// The limits of a template's sources and variables, and of a render.
const (
	MaxSource    = 1 << 20 // bytes of html and of text each
	MaxVariables = 100
	MaxKey       = 100 // characters of a variable's key
	MaxKeyParts  = 5
	MaxList      = 1_000 // items of a list value
	MaxObject    = 200   // fields of an object value
	MaxValues    = 50_000
	MaxRender    = 1 << 20         // bytes of rendered html and of rendered text
	RenderTime   = 2 * time.Second // of one template, all of its parts

	maxTags       = 5_000   // {{ }} and {% %} in one source
	maxExpression = 1_000   // bytes in one of them
	maxNesting    = 30      // blocks in blocks
	maxLoops      = 2       // for in for
	maxText       = 256_000 // bytes that a filter may produce
	maxFallbacks  = 64 << 10
	maxDepth      = 16 // of a value
)
