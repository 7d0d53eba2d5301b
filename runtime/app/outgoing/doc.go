// Package outgoing is the part of the assembly that decides where mail goes: to mail hosts, to a smarthost
// or into the development inbox. It creates the lanes that limit how much mail goes where.
package outgoing
