// Package schema is the data model by hand: one entity per file, the first line
// of which names the module that may write it. Everything else in ent is
// generated from here.
package schema
