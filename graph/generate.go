package graph

// Run after ent's: the ent types are read. The settings are in /gqlgen.yml.
//go:generate go -C .. tool gqlgen generate
