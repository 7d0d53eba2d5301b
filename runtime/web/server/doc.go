// Package server serves HTTP to strangers: it limits clients that send nothing or read nothing, shares connections
// among networks, lets requests finish when it stops, and writes Server-Sent Events (HTML Living Standard, section
// 9.2) for as long as their reader takes them.
package server
