// Package apilog stores API requests for seven days: the caller, the response status, the duration, and
// both bodies with secrets redacted.
//
// A request is handled in two steps. [Service.Keep] decides, when its response begins, whether to log it:
// it only counts and never waits. Failures take priority over successes. [Service.Add] puts logged requests
// into a bounded buffer, and one task writes the buffer to the table after the responses. Requests that do
// not fit are dropped and counted. The table is unlogged: after a crash of the database the log starts
// empty.
//
// [Redact] rewrites each body: members named like secrets lose their values, strings are kept up to 1,000
// bytes and bodies up to 4 KB. Content that cannot be read as JSON is not stored.
package apilog
