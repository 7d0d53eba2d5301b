// Package trusted has the queries that the pages of this installation make, by their hash: people run these and no
// others. Each is pruned of the fields of modules that are off.
package trusted
