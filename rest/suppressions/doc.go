// Package suppressions is the resources suppressions and category opt-outs of the API.
package suppressions
