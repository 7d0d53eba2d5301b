package model

// Node is an object with an ID: any of the types that implement Node in the schema.
type Node any
