// Package apilog keeps what was asked of the API, for seven days: who asked, what was answered, how
// long it took, and both bodies without what is secret in them.
//
// A request is looked at twice. [Service.Keep] decides, when its answer begins, whether it is kept: it
// counts and waits for nothing. Failures go before successes. [Service.Add] takes what was kept into a
// buffer of bounded size, and one task writes the buffer to the table behind the answers. What finds no
// room is dropped and counted. The table is unlogged: after a crash of the database the log begins again.
//
// A body is kept as [Redact] writes it again: members that are named like secrets lose their values, a
// string is kept up to 1,000 octets and a body up to 4 KB. What cannot be read as JSON is not kept.
package apilog
