package module

import "slices"

// On are the names of the modules that run in this process; nil stands for all.
type On []string

// Has tells whether the module runs.
func (o On) Has(name string) bool { return o == nil || slices.Contains(o, name) }
