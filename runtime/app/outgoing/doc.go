// Package outgoing is the part of the assembly that decides where mail is sent: to mail hosts, to a smarthost
// or into the development inbox. It creates the lanes that limit the traffic to each destination.
package outgoing
