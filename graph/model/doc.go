// Package model has the Go types of the GraphQL types that are neither an ent type nor the result of one
// conversion, and the scalars.
//
// models_gen.go is generated from the SDL; the rest is written by hand.
package model
