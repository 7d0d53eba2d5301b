// Package schema holds the SDL, without the fields of modules that are off and the types that only those
// fields use.
package schema
