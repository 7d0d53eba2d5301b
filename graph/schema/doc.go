// Package schema has the SDL, pruned of the fields of modules that are off and of every type that only they led to.
package schema
