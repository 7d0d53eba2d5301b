// Package ent is the data model: `schema` is written by hand, everything else
// in this folder is generated from it. Hand-written changes elsewhere are lost.
package ent

//go:generate go run ../cmd/model
