package model

// Node is an object with an ID of its own: any of the types that implement Node in the schema.
type Node any
