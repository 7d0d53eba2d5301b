// Package schema is the handwritten data model: one entity per file, whose first line names the module that may
// write it. Everything else in ent is generated from it.
package schema
