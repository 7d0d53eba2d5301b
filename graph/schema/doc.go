// Package schema contains the SDL, without the fields of disabled modules and the types that only those fields use.
package schema
