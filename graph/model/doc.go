// Package model holds the Go types behind the GraphQL types that are neither an
// ent type nor built by one conversion, and the scalars.
//
// models_gen.go is generated from the SDL; the rest is written by hand.
package model
