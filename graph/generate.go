package graph

// Run this after the generator of ent, whose types it reads. The settings are in /gqlgen.yml.
//go:generate go -C .. tool gqlgen generate
