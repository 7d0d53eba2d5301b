// Package httpserver serves HTTP to strangers: limits for peers that say nothing, a gate
// that lets connections in by shares, and a stop that lets requests end.
package httpserver
