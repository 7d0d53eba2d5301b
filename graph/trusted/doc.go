// Package trusted holds the queries of this installation's pages by hash. Signed-in users can run only
// these. Each is pruned of the fields of modules that are off.
package trusted
