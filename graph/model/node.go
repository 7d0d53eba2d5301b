package model

// Node is anything that has an id of its own: any of the types behind Node in the schema.
type Node any
