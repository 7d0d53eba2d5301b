// Package outgoing is the part of the assembly that decides where mail goes: to mail hosts,
// to a smarthost or into the development inbox, with the lanes that say how much goes where.
package outgoing
