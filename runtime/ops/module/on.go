package module

import "slices"

// On lists the names of the modules that run in this process; nil means all.
type On []string

// Has reports whether the module runs.
func (o On) Has(name string) bool { return o == nil || slices.Contains(o, name) }
