// Package suppressions serves the resources suppressions and category opt-outs.
package suppressions
