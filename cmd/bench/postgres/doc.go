// Package postgres measures what the PostgreSQL of a server can insert, and runs statements on it.
package postgres
