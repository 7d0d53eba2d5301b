// Package apilog stores API requests for seven days: the caller, the response status, the duration, and both
// bodies with secrets redacted.
//
// A request is handled in two steps. When its response begins, [Service.Keep] decides whether to log it. This
// only counts and never waits. Failures take priority over successes. [Service.Add] puts logged requests into
// a bounded buffer, and a background task writes the buffer to the table. Requests that do not fit are
// dropped and counted. The table is unlogged: after a crash of the database the log starts empty.
//
// [Redact] rewrites each body: members named like secrets lose their values, strings are kept up to 1,000
// bytes and bodies up to 4 KB. Content that cannot be parsed as JSON is not stored.
package apilog
